// Removes the types from the sources that the tests import. Threads of the service and of sweeps run built files, and
// inherit this: a loader in each of them would double the time in which it starts.
import { isMainThread } from 'node:worker_threads';

if (isMainThread) await import('ts-blank-space/register');
