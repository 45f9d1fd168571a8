import { expect } from 'chai';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

import { MergedMetrics } from '../../../src/api/middleware/metrics.ts';

/** Returns the metrics of a process with the given counts. */
async function processWith(count: number) {
  const registers = [new Registry()];
  new Counter({ name: 'asked_total', help: 'h', labelNames: ['route'], registers }).inc({ route: 'r' }, count);
  new Gauge({ name: 'in_use', help: 'h', registers }).set(count);
  const histogram = new Histogram({ name: 'seconds', help: 'h', buckets: [1, 2], registers });
  for (let index = 0; index < count; index++) histogram.observe(1.5);
  return (registers[0] as Registry).getMetricsAsJSON();
}

/** Returns the value of a line. */
function valueOf(text: string, line: string): number | undefined {
  const found = text.split('\n').find((candidate) => candidate.startsWith(`${line} `));
  return found === undefined ? undefined : Number(found.slice(line.length + 1));
}

const COUNTED = ['asked_total{route="r"}', 'seconds_count', 'seconds_bucket{le="2"}'];

describe('metrics of several processes', () => {
  it('are added', async () => {
    const merged = new MergedMetrics();
    const living = new Map([
      ['1', await processWith(2)],
      ['2', await processWith(3)],
    ]);
    const { text, contentType } = await merged.render(living);
    expect(contentType).to.contain('text/plain');
    for (const line of [...COUNTED, 'in_use']) expect(valueOf(text, line), line).to.equal(5);
  });

  it('never decrease when a process ends, while its gauges are dropped', async () => {
    const merged = new MergedMetrics();
    await merged.render(
      new Map([
        ['1', await processWith(2)],
        ['2', await processWith(3)],
      ]),
    );
    await merged.bury('1');
    const second = await merged.render(new Map([['2', await processWith(4)]]));
    for (const line of COUNTED) expect(valueOf(second.text, line), line).to.equal(6);
    expect(valueOf(second.text, 'in_use')).to.equal(4);
    await Promise.all([merged.bury('2'), merged.bury('none')]);
    const third = await merged.render(new Map([['3', await processWith(1)]]));
    for (const line of COUNTED) expect(valueOf(third.text, line), line).to.equal(7);
  });

  it('include the last known values of a process that does not answer', async () => {
    const merged = new MergedMetrics();
    await merged.render(new Map([['1', await processWith(2)]]));
    const { text } = await merged.render(new Map([['2', await processWith(3)]]));
    for (const line of COUNTED) expect(valueOf(text, line), line).to.equal(5);
  });
});
