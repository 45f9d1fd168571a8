import { expect } from 'chai';
import { register } from 'prom-client';

import { answerProblems } from '../../../src/api/middleware/answer-problems.ts';
import { MergedMetrics, ServiceMetrics } from '../../../src/api/middleware/metrics.ts';
import { requestId } from '../../../src/api/middleware/service-layers.ts';
import { ask, bareApp, serviceWith } from './bare-app.ts';

const counts = () => Promise.resolve({ queued: 2, running: 1, kept: 30 });

function appOf(metrics: ServiceMetrics) {
  const service = serviceWith();
  return bareApp([requestId(service), metrics.middleware, answerProblems(service)], (context) => {
    if (context.path === '/validate') context.body = 'done';
  });
}

/** Returns the lines of a text that begin with a name. */
const linesOf = (text: string, name: string) => text.split('\n').filter((line) => line.startsWith(name));

describe('ServiceMetrics', () => {
  it('counts answers by method, route and status', async () => {
    const metrics = new ServiceMetrics(counts);
    const app = appOf(metrics);
    await ask(app, { method: 'POST', url: '/validate' });
    await ask(app, { method: 'POST', url: '/validate?x=1' });
    for (const id of ['a', 'b', 'c']) await ask(app, { method: 'GET', url: `/results/${id}` });
    const { text } = await metrics.render();
    expect(linesOf(text, 'evenhand_http_requests_total')).to.deep.equal([
      'evenhand_http_requests_total{method="POST",route="/validate",status="200"} 2',
      'evenhand_http_requests_total{method="GET",route="/results/{run_id}",status="404"} 3',
    ]);
    expect(linesOf(text, 'evenhand_http_request_duration_seconds_count')).to.deep.equal([
      'evenhand_http_request_duration_seconds_count{method="POST",route="/validate"} 2',
      'evenhand_http_request_duration_seconds_count{method="GET",route="/results/{run_id}"} 3',
    ]);
    expect(linesOf(text, 'evenhand_http_requests_in_flight')).to.deep.equal(['evenhand_http_requests_in_flight 0']);
  });

  it('creates a bounded number of series for any requests', async () => {
    const metrics = new ServiceMetrics(counts);
    const app = appOf(metrics);
    for (let count = 0; count < 300; count++) {
      await ask(app, { method: 'GET', url: `/x${String(count)}/%22${String(count)}` });
    }
    for (const method of ['PATCH', 'PUT'] as const) await ask(app, { method, url: '/x' });
    const { text } = await metrics.render();
    expect(linesOf(text, 'evenhand_http_requests_total')).to.deep.equal([
      'evenhand_http_requests_total{method="GET",route="unmatched",status="404"} 300',
      'evenhand_http_requests_total{method="other",route="unmatched",status="404"} 2',
    ]);
  });

  it('reads the numbers of runs when metrics are requested, and keeps the last numbers if that fails', async () => {
    let isBroken = false;
    const metrics = new ServiceMetrics(() => (isBroken ? Promise.reject(new Error('x')) : counts()));
    const expected = [
      'evenhand_runs{state="queued"} 2',
      'evenhand_runs{state="running"} 1',
      'evenhand_runs{state="kept"} 30',
    ];
    expect(linesOf((await metrics.render()).text, 'evenhand_runs')).to.deep.equal(expected);
    isBroken = true;
    expect(linesOf((await metrics.render()).text, 'evenhand_runs')).to.deep.equal(expected);
  });

  it('contains process metrics, and names each metric once with its help and type', async () => {
    const { text, contentType } = await new ServiceMetrics(counts).render();
    expect(contentType).to.match(/^text\/plain; version=0\.0\.4/);
    expect(text)
      .to.include('evenhand_process_resident_memory_bytes ')
      .and.include('evenhand_nodejs_eventloop_lag_seconds ')
      .and.not.include('eventloop_lag_min');
    const types = linesOf(text, '# TYPE ');
    expect(new Set(types).size).to.equal(types.length);
    expect(types.every((line) => line.startsWith('# TYPE evenhand_'))).to.equal(true);
    expect(text.endsWith('\n')).to.equal(true);
  });

  it('keeps the counts of two services separate, and does not use the global registry', async () => {
    const [first, second] = [new ServiceMetrics(counts), new ServiceMetrics(counts)];
    await ask(appOf(first), { method: 'POST', url: '/validate' });
    expect(linesOf((await second.render()).text, 'evenhand_http_requests_total{')).to.deep.equal([]);
    expect(register.getMetricsAsArray()).to.deep.equal([]);
  });
});

describe('MergedMetrics', () => {
  it('adds the counts of processes, and counts runs, which all processes see, once', async () => {
    const workers = [new ServiceMetrics(counts), new ServiceMetrics(counts)];
    for (const metrics of workers) await ask(appOf(metrics), { method: 'POST', url: '/validate' });
    const sent = await Promise.all(workers.map((metrics) => metrics.toJson()));
    // As received from another process.
    const received = JSON.parse(JSON.stringify(sent)) as (readonly unknown[])[];
    const { text } = await new MergedMetrics().render(
      new Map(received.map((metrics, index) => [String(index), metrics])),
    );
    expect(linesOf(text, 'evenhand_http_requests_total{')).to.deep.equal([
      'evenhand_http_requests_total{method="POST",route="/validate",status="200"} 2',
    ]);
    expect(linesOf(text, 'evenhand_http_request_duration_seconds_count')).to.deep.equal([
      'evenhand_http_request_duration_seconds_count{method="POST",route="/validate"} 2',
    ]);
    expect(linesOf(text, 'evenhand_runs{')).to.have.members([
      'evenhand_runs{state="queued"} 2',
      'evenhand_runs{state="running"} 1',
      'evenhand_runs{state="kept"} 30',
    ]);
  });
});
