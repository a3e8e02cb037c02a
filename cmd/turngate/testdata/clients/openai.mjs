// Sends one request with the openai package and prints what the caller gets, one
// JSON object a line: {"event"}, {"response"} or {"thrown"}.
//
//   node openai.mjs MODULE METHOD BASE_URL < request.json
//
// MODULE is the package's index.mjs; METHOD is create (with or without "stream"
// in the request) or stream.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [module, method, baseURL] = process.argv.slice(2);
const request = JSON.parse(readFileSync(0, 'utf8'));
const { default: OpenAI } = await import(pathToFileURL(module));
const client = new OpenAI({ apiKey: 'sk-test', baseURL });

const print = (line) => console.log(JSON.stringify(line));

async function turn() {
  if (method === 'create' && !request.stream) {
    print({ response: await client.responses.create(request) });
    return;
  }
  const stream = method === 'stream' ? client.responses.stream(request) : await client.responses.create(request);
  for await (const event of stream) print({ event });
  if (method === 'stream') print({ response: await stream.finalResponse() });
}

try {
  await turn();
} catch (error) {
  const { name, status, code, message } = error;
  print({ thrown: { name, status, code, message, error: error.error } });
}
