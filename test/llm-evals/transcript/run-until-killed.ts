// Sends many requests and writes the answers to a transcript, until its parent kills it.
import { runRequests } from '../../../src/llm-evals/scheduler/run-requests.ts';
import { openTranscriptLog } from '../../../src/llm-evals/transcript/transcript-log.ts';
import { serverCeiling, serverClient, serverRequests } from '../scheduler/server-run.ts';

const [, , file = '', baseUrl = '', count = '0', concurrency = '4'] = process.argv;
const log = await openTranscriptLog(file, { resume: true });
const known = new Set(log.records.filter(({ error }) => error === null).map(({ key }) => key));
await runRequests(
  serverRequests(Number(count)).filter(({ key }) => !known.has(key)),
  {
    client: serverClient(baseUrl),
    concurrency: Number(concurrency),
    estimateTokens: serverCeiling,
    onAnswer: (record) => log.append(record),
  },
);
await log.close();
