package bolt_test

const writerEnv = "TURNGATE_TEST_BOLT_WRITER"

func writer(string) {}
