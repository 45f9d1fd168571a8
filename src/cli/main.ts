#!/usr/bin/env node
import { INTERRUPTED } from './exit-codes.ts';
import { warn } from './output.ts';
import { runCommandLine } from './program.ts';
import { describeInterrupt } from './progress-bar.ts';

process.on('SIGINT', () => {
  void import('../io/atomic-write.ts').then(({ removeUnfinished, writtenPaths }) => {
    removeUnfinished();
    warn(describeInterrupt(writtenPaths()));
    process.exit(INTERRUPTED);
  });
});
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader such as head may close the pipe early. This is not an error: the work continues, and the verdict is
  // unchanged.
  if (error.code === 'EPIPE') return;
  process.stderr.write(`error: Cannot write to stdout (${error.code ?? error.message}).\n`);
  process.exit(2);
});

await runCommandLine(process.argv.slice(2));
