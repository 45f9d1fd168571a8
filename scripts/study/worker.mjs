// Worker threads do not inherit the loader for TypeScript, so each one registers it.
import { register } from 'tsx/esm/api';

register();
await import('./worker.ts');
