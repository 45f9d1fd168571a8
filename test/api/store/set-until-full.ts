// Sets an entry to a small value and then to one for which the disk has no space, and reports the result.
import { FileResultStore } from '../../../src/api/store/index.ts';

// By default the system kills a process whose file would grow too large; here it gets an error instead.
process.on('SIGXFSZ', () => undefined);
const store = await FileResultStore.open<string>(process.argv[2] ?? '');
await store.set('run', 'small');
const message = await store.set('run', 'x'.repeat(100_000)).then(
  () => 'was written',
  (error: unknown) => (error as Error).message,
);
process.stdout.write(JSON.stringify({ message, kept: store.get('run') }));
await store.close();
