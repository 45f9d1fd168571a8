import type { Registry } from 'prom-client';

import type { ServiceContext } from '../context/service-context.ts';
import { loadPromClient } from '../packages.ts';
import type { RunCounts } from '../runs/runs.ts';
import type { ServiceMiddleware } from './service-middleware.ts';

let registry: Registry | undefined;

/** Memory, CPU and event loop of this process: one registry, however many services it holds, since each one observes the process anew. */
function processMetrics(): Registry {
  registry ??= createRegistry();
  return registry;
}

function createRegistry(): Registry {
  const { collectDefaultMetrics, Registry: OwnRegistry } = loadPromClient();
  const created = new OwnRegistry();
  collectDefaultMetrics({ register: created, prefix: 'evenhand_' });
  return created;
}

/** Metrics of one process, to be merged with those of others. */
export type MetricsJson = readonly unknown[];

/** Metrics as Prometheus reads them. */
export interface RenderedMetrics {
  readonly text: string;
  readonly contentType: string;
}

/** What one process counts. */
export interface ServiceMetrics {
  /** Counts requests and their time. */
  readonly middleware: ServiceMiddleware;
  /** The metrics of this process, as plain data for `mergeMetrics`. */
  toJson(): Promise<MetricsJson>;
  render(): Promise<RenderedMetrics>;
}

/** Seconds, from what is answered at once to what takes minutes. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Methods that are told apart; others are told as one, so that a client cannot make series. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS']);

/**
 * The metrics of one process, in a registry of its own:
 *
 * - `evenhand_http_requests_total` {method, route, status}: answers given; status 499 where the client went first
 * - `evenhand_http_request_duration_seconds` {method, route}: from the head of a request to the last byte of its answer
 * - `evenhand_http_requests_in_flight`
 * - `evenhand_runs` {state}: runs queued, running and kept, asked for when metrics are
 * - `evenhand_process_…`, `evenhand_nodejs_…`: memory, CPU and event loop of the process
 *
 * Routes come out of a fixed list, so that the number of series is bounded whatever is asked for. Between processes,
 * counts and requests in flight add up; of `evenhand_runs`, which all processes see alike, the largest is taken.
 * @param counts tells of the runs; where it fails their last numbers stay
 */
export function createServiceMetrics(counts: () => Promise<RunCounts>): ServiceMetrics {
  const { Registry } = loadPromClient();
  const registry = new Registry();
  registerRuns(registry, counts);
  const middleware = observer(registry);
  return {
    middleware,
    toJson: async () => [...(await registry.getMetricsAsJSON()), ...(await processMetrics().getMetricsAsJSON())],
    render: async () => ({
      text: `${await registry.metrics()}\n${await processMetrics().metrics()}`,
      contentType: registry.contentType,
    }),
  };
}

function registerRuns(registry: Registry, counts: () => Promise<RunCounts>): void {
  const { Gauge } = loadPromClient();
  new Gauge({
    name: 'evenhand_runs',
    help: 'Runs by their state: waiting for a thread, at work, or ended and kept.',
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
  const { Counter, Gauge, Histogram } = loadPromClient();
  const registers = [registry];
  const total = new Counter({
    name: 'evenhand_http_requests_total',
    help: 'Answers given.',
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
    help: 'Requests that are not answered yet.',
    registers,
    aggregator: 'sum',
  });
  return async (context, next) => {
    const start = performance.now();
    inFlight.inc();
    context.res.once('close', () => {
      const { method, route, status } = labelsOf(context);
      inFlight.dec();
      total.inc({ method, route, status });
      duration.observe({ method, route }, (performance.now() - start) / 1000);
    });
    await next();
  };
}

function labelsOf({ method, state, res }: ServiceContext): { method: string; route: string; status: string } {
  return {
    method: METHODS.has(method) ? method : 'other',
    route: state.route,
    status: res.writableEnded ? String(res.statusCode) : '499',
  };
}
