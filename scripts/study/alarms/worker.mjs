// Worker threads do not take over the loader that reads TypeScript; each one registers it for itself.
import { register } from 'tsx/esm/api';

register();
await import('./worker.ts');
