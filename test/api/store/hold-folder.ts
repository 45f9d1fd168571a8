// Opens a store, reports it, and holds it until its input ends or it is killed.
import { FileResultStore } from '../../../src/api/store/index.ts';

const store = await FileResultStore.open(process.argv[2] ?? '');
await store.set('held', process.pid);
process.stdout.write('open\n');
process.stdin.resume().on('end', () => {
  void store.close();
});
