// Sets an entry to a small value and then to one that the disk has no room for, and tells what became of it.
import { FileResultStore } from '../../../src/api/store/index.ts';

// The system asks a process to end whose file would grow too large; it is told as an error instead.
process.on('SIGXFSZ', () => undefined);
const store = await FileResultStore.open<string>(process.argv[2] ?? '');
await store.set('run', 'small');
const message = await store.set('run', 'x'.repeat(100_000)).then(
  () => 'was written',
  (error: unknown) => (error as Error).message,
);
process.stdout.write(JSON.stringify({ message, kept: store.get('run') }));
await store.close();
