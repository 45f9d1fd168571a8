// Opens a transcript and keeps it open, until its parent kills it or closes its input.
import { openTranscriptLog } from '../../../src/llm-evals/transcript/transcript-log.ts';

const [, , file = ''] = process.argv;
try {
  const log = await openTranscriptLog(file, { resume: true });
  process.stdout.write('open\n');
  process.stdin.on('end', () => void log.close());
  process.stdin.resume();
} catch (error) {
  process.stdout.write(`${(error as Error).message}\n`);
}
