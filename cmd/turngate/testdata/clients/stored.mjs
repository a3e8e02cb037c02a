// Uses the openai package's own methods for stored responses, and prints what
// each gives, one JSON object a line.
//
//   node stored.mjs MODULE BASE_URL
//
// MODULE is the package's index.mjs.
import { pathToFileURL } from 'node:url';

const [module, baseURL] = process.argv.slice(2);
const { default: OpenAI } = await import(pathToFileURL(module));
const { responses } = new OpenAI({ apiKey: 'sk-test', baseURL });

async function print(name, work) {
  try {
    console.log(JSON.stringify({ name, value: await work() }));
  } catch ({ status, code, param, message }) {
    console.log(JSON.stringify({ name, status, code, param, message }));
  }
}

const first = await responses.create({ model: 'm', input: 'hi' });
const next = { model: 'm', input: 'two', previous_response_id: first.id };
await print('stream', async () => {
  const shown = [];
  let response;
  for await (const event of await responses.create({ ...next, stream: true })) {
    if (event.response) shown.push((response = event.response).previous_response_id);
  }
  return { shown, response };
});
await print('retrieve', () => responses.retrieve('resp_2'));
await print('items', async () => {
  const ids = [];
  for await (const item of responses.inputItems.list('resp_2', { limit: 1, order: 'asc' })) ids.push(item.content[0].text);
  return ids;
});
await print('cancel', () => responses.cancel('resp_2'));
await print('unknown', () => responses.create({ ...next, previous_response_id: 'resp_9' }));
await print('compact', () => responses.compact(next));
await print('count', () => responses.inputTokens.count(next));
await print('delete', async () => { await responses.delete('resp_2'); return null; });
await print('retrieve again', () => responses.retrieve('resp_2'));
