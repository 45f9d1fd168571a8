import type { Logger } from 'pino';

import { createServiceMetrics, type RenderedMetrics, type ServiceMetrics } from '../middleware/metrics.ts';
import type { AppOptions } from './app-options.ts';
import { createAppOf, type ServiceKoa } from './create-app-of.ts';
import type { Service } from './service-context.ts';
import { settingsOf } from './settings-of.ts';

/** What a process that answers requests is given beside its options. */
export type ProcessParts = Pick<Service, 'runs' | 'limiter' | 'spoolFolder' | 'workerName'> & {
  /** The metrics of the whole service; unset where this process is all of it. */
  readonly renderMetrics?: () => Promise<RenderedMetrics>;
  /** Unset for the package's. */
  readonly logger?: Logger;
};

/** The app of one process, with what it counts. */
export interface ProcessApp {
  readonly app: ServiceKoa;
  readonly metrics: ServiceMetrics;
  /** From now on the app is not ready for more. */
  readonly startEnding: () => void;
}

/** Makes the app of one process from its options and what it shares with others. */
export function createProcessApp(options: AppOptions, parts: ProcessParts): ProcessApp {
  const { runs, renderMetrics } = parts;
  const metrics = createServiceMetrics(() => runs.counts());
  let isEnding = false;
  const service: Service = {
    ...settingsOf(options),
    ...parts,
    renderMetrics: renderMetrics ?? (() => metrics.render()),
    notReady: () => (isEnding ? 'The service is ending.' : null),
  };
  return {
    app: createAppOf(service, metrics.middleware),
    metrics,
    startEnding: () => {
      isEnding = true;
    },
  };
}
