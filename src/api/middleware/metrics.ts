import { AggregatorRegistry, collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

import type { RunCounts } from '../runs/runs.ts';
import type { ServiceMiddleware } from './service-middleware.ts';

let registry: Registry | undefined;

/**
 * Returns the registry for memory, CPU and event loop of this process. There is one registry per process, regardless of
 * the number of services. Further registries would collect the same metrics again.
 */
function processMetrics(): Registry {
  if (registry !== undefined) return registry;
  registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'evenhand_' });
  // Before the first sample it is 2^63 nanoseconds.
  registry.removeSingleMetric('evenhand_nodejs_eventloop_lag_min_seconds');
  return registry;
}

/** The metrics of one process, as plain data that can be merged with the data of other processes. */
export type MetricsJson = readonly unknown[];

/** Metrics in the format of Prometheus. */
export interface RenderedMetrics {
  readonly text: string;
  readonly contentType: string;
}

/** Histogram buckets in seconds, from immediate responses to responses that take minutes. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/**
 * The HTTP methods that have a separate time series. All other methods share one time series. Clients therefore cannot
 * create new series by sending unusual methods.
 */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS']);

/**
 * The metrics of one process, in a separate registry, and the middleware that collects them:
 *
 * - `evenhand_http_requests_total` {method, route, status}: answered requests; status 499 if the client disconnected
 *   first
 * - `evenhand_http_request_duration_seconds` {method, route}: from the head of a request to the last byte of its answer
 * - `evenhand_http_requests_in_flight`
 * - `evenhand_runs` {state}: the numbers of queued, running and stored runs, determined at each request for metrics
 * - `evenhand_process_…`, `evenhand_nodejs_…`: memory, CPU and event loop of the process
 *
 * Routes come from a fixed list, so the number of series is bounded. In the metrics of several processes, counts and
 * requests in flight are summed. `evenhand_runs` is the same in all processes, so its maximum is used.
 */
export class ServiceMetrics {
  readonly #registry = new Registry();
  /** Counts requests and measures their duration. */
  readonly middleware: ServiceMiddleware;

  /** @param counts returns the numbers of runs; if it fails, the previous numbers are kept */
  constructor(counts: () => Promise<RunCounts>) {
    registerRuns(this.#registry, counts);
    this.middleware = observer(this.#registry);
  }

  /** Returns the metrics of this process as plain data for {@link MergedMetrics}. */
  async toJson(): Promise<MetricsJson> {
    return [...(await this.#registry.getMetricsAsJSON()), ...(await processMetrics().getMetricsAsJSON())];
  }

  async render(): Promise<RenderedMetrics> {
    const text = `${await this.#registry.metrics()}\n${await processMetrics().metrics()}`;
    return { text, contentType: this.#registry.contentType };
  }
}

function registerRuns(registry: Registry, counts: () => Promise<RunCounts>): void {
  new Gauge({
    name: 'evenhand_runs',
    help: 'Runs by state: waiting for a thread, running, or ended and stored.',
    labelNames: ['state'],
    registers: [registry],
    aggregator: 'max',
    async collect() {
      const found = await counts().catch(() => undefined);
      if (found === undefined) return;
      for (const state of ['queued', 'running', 'kept'] as const) this.set({ state }, found[state]);
    },
  });
}

function observer(registry: Registry): ServiceMiddleware {
  const registers = [registry];
  const total = new Counter({
    name: 'evenhand_http_requests_total',
    help: 'Answered requests.',
    labelNames: ['method', 'route', 'status'],
    registers,
  });
  const duration = new Histogram({
    name: 'evenhand_http_request_duration_seconds',
    help: 'Time from the head of a request to the last byte of its answer.',
    labelNames: ['method', 'route'],
    buckets: BUCKETS,
    registers,
  });
  const inFlight = new Gauge({
    name: 'evenhand_http_requests_in_flight',
    help: 'Requests in progress.',
    registers,
    aggregator: 'sum',
  });
  return async (context, next) => {
    const start = performance.now();
    inFlight.inc();
    context.res.once('close', () => {
      const { res, state } = context;
      const labels = { method: METHODS.has(context.method) ? context.method : 'other', route: state.route };
      inFlight.dec();
      total.inc({ ...labels, status: res.writableEnded ? String(res.statusCode) : '499' });
      duration.observe(labels, (performance.now() - start) / 1000);
    });
    await next();
  };
}

/** The metric types whose values never decrease. Only these metrics are kept when a process ends. */
const GROWING = new Set<unknown>(['counter', 'histogram']);

/** The combined metrics of several processes. Stores the last known metrics of each process. */
export class MergedMetrics {
  readonly #lastKnown = new Map<string, MetricsJson>();
  #buried: MetricsJson = [];
  #burials = Promise.resolve();

  /**
   * Renders the sums over living and ended processes. If a process is missing in `living` and has not ended, its last
   * known values are used.
   */
  async render(living: ReadonlyMap<string, MetricsJson>): Promise<RenderedMetrics> {
    for (const [name, metrics] of living) this.#lastKnown.set(name, metrics);
    const merged = merge([...this.#lastKnown.values(), this.#buried]);
    return { text: await merged.metrics(), contentType: merged.contentType };
  }

  /**
   * Records the end of a process. The last known counts of the process stay in the sums, so that the sums never
   * decrease.
   */
  bury(name: string): Promise<void> {
    this.#burials = this.#burials.then(async () => {
      const metrics = this.#lastKnown.get(name) ?? [];
      const counted = metrics.filter((metric) => GROWING.has((metric as { type: unknown }).type));
      const sum = counted.length === 0 ? this.#buried : await merge([this.#buried, counted]).getMetricsAsJSON();
      // Both changes happen in the same turn, so that a concurrent render counts the process exactly once.
      this.#buried = sum;
      this.#lastKnown.delete(name);
    });
    return this.#burials;
  }
}

/** Merges the metrics of processes. Counters are added; other metrics are aggregated as each metric defines. */
function merge(processes: readonly MetricsJson[]): Registry {
  return AggregatorRegistry.aggregate(processes as unknown as object[]);
}
