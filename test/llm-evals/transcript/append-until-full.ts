// Appends records until the file may not grow any more, and prints their number and the error.
import { openTranscriptLog } from '../../../src/llm-evals/transcript/transcript-log.ts';
import { sampleAnswer } from './sample-answer.ts';

const log = await openTranscriptLog(process.argv[2] ?? '');
let appended = 0;
let message = '';
while (message === '') {
  await log.append(sampleAnswer({ key: `k${appended}`, text: 'x'.repeat(333) })).then(
    () => appended++,
    (error: unknown) => {
      message = (error as Error).message;
    },
  );
}
await log.close();
process.stdout.write(JSON.stringify({ appended, message }));
