import type { Registry } from 'prom-client';

import { loadPromClient } from '../packages.ts';

let registry: Registry | undefined;

/** Memory, CPU and event loop of this process: one registry, however many services it holds, since each one observes the process anew. */
export function processMetrics(): Registry {
  registry ??= createRegistry();
  return registry;
}

function createRegistry(): Registry {
  const { collectDefaultMetrics, Registry: OwnRegistry } = loadPromClient();
  const created = new OwnRegistry();
  collectDefaultMetrics({ register: created, prefix: 'evenhand_' });
  return created;
}
