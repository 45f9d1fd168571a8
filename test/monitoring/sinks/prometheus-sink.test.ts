import { expect } from 'chai';

import type { AlertChange, MonitorReading } from '../../../src/monitoring/alarms/alert-event.ts';
import { prometheusSink } from '../../../src/monitoring/sinks/prometheus-sink.ts';
import { parseExposition } from './parse-exposition.ts';
import { sampleTransition } from './sample-transition.ts';

const READING: MonitorReading = {
  attribute: 'sex', metric: 'demographic_parity_difference', state: 'breach', value: 0.25, low: 0.15, limit: 0.1, n: 1550,
}; // prettier-ignore
const LABELS = { attribute: 'sex', metric: 'demographic_parity_difference' };

describe('a Prometheus sink', () => {
  it('shows, before anything came, names, types and counts of 0', () => {
    const sink = prometheusSink();
    const families = parseExposition(sink.text());
    expect([...families].map(([name, { type }]) => [name, type])).to.deep.equal([
      ['evenhand_fairness_gap', 'gauge'],
      ['evenhand_fairness_gap_low', 'gauge'],
      ['evenhand_fairness_limit', 'gauge'],
      ['evenhand_fairness_events', 'gauge'],
      ['evenhand_fairness_state', 'gauge'],
      ['evenhand_alerts_open', 'gauge'],
      ['evenhand_alerts_total', 'counter'],
    ]);
    for (const { help, samples } of families.values()) {
      expect(help).to.match(/^[A-Z].*\.$/);
      expect(samples.every(({ value }) => value === 0)).to.equal(true);
    }
    expect(families.get('evenhand_alerts_total')?.samples.map(({ labels }) => labels['change'])).to.deep.equal([
      'raised', 'repeated', 'acknowledged', 'resolved', 'cleared',
    ]); // prettier-ignore
    expect(sink.contentType).to.equal('text/plain; version=0.0.4; charset=utf-8');
  });

  it('shows the numbers of each reading, and its state as one series a state', () => {
    const sink = prometheusSink();
    sink.read([READING]);
    const families = parseExposition(sink.text());
    for (const [name, value] of [
      ['evenhand_fairness_gap', 0.25],
      ['evenhand_fairness_gap_low', 0.15],
      ['evenhand_fairness_limit', 0.1],
      ['evenhand_fairness_events', 1550],
    ] as const) {
      expect(families.get(name)?.samples).to.deep.equal([{ name, labels: LABELS, value }]);
    }
    const states = families.get('evenhand_fairness_state')?.samples ?? [];
    expect(states.map(({ labels, value }) => [labels['state'], value])).to.deep.equal([
      ['within', 0], ['watch', 0], ['breach', 1], ['unknown', 0],
    ]); // prettier-ignore
  });

  it('shows NaN where a number is undefined, and reads any number back the same', () => {
    const sink = prometheusSink();
    sink.read([
      { ...READING, value: null, low: null },
      { ...READING, metric: 'b', value: 1e-7, low: 5e-324, limit: 1.7976931348623157e308, n: 2 ** 53 },
    ]);
    const families = parseExposition(sink.text());
    const values = (name: string) => families.get(name)?.samples.map(({ value }) => value);
    expect(values('evenhand_fairness_gap')).to.deep.equal([NaN, 1e-7]);
    expect(values('evenhand_fairness_gap_low')).to.deep.equal([NaN, 5e-324]);
    expect(values('evenhand_fairness_limit')).to.deep.equal([0.1, 1.7976931348623157e308]);
    expect(values('evenhand_fairness_events')).to.deep.equal([1550, 2 ** 53]);
  });

  for (const attribute of [
    'a"b',
    'a\\b',
    'a\nb',
    '\\n',
    '\\"',
    'a\\',
    '"',
    '',
    'a b,c={}',
    '東京',
    'a\\\\n"\n',
    '__proto__',
  ]) {
    it(`reads the label ${JSON.stringify(attribute)} back as it was`, () => {
      const sink = prometheusSink();
      sink.read([{ ...READING, attribute }]);
      expect(parseExposition(sink.text()).get('evenhand_fairness_gap')?.samples[0]?.labels['attribute']).to.equal(
        attribute,
      );
    });
  }

  it('shows the latest readings alone, and of two with the same names the later', () => {
    const sink = prometheusSink();
    sink.read([READING, { ...READING, metric: 'b' }]);
    sink.read([READING, { ...READING, value: 0.5 }]);
    const samples = parseExposition(sink.text()).get('evenhand_fairness_gap')?.samples;
    expect(samples?.map(({ labels, value }) => [labels['metric'], value])).to.deep.equal([[READING.metric, 0.5]]);
  });

  it('does not follow a reading that its sender changes', () => {
    const sink = prometheusSink();
    const reading = { ...READING };
    sink.read([reading]);
    reading.value = 9;
    expect(parseExposition(sink.text()).get('evenhand_fairness_gap')?.samples[0]?.value).to.equal(0.25);
  });

  it('counts alarms that are open and what happened to them, and no watches', () => {
    const sink = prometheusSink();
    const send = (change: AlertChange, id: string, tier: 'alarm' | 'watch' = 'alarm') => {
      sink.send(sampleTransition(change, { id, tier }));
    };
    const counts = () => {
      const families = parseExposition(sink.text());
      const totals = families.get('evenhand_alerts_total')?.samples.map(({ value }) => value);
      return [families.get('evenhand_alerts_open')?.samples[0]?.value, totals];
    };
    send('raised', 'a');
    send('raised', 'b');
    send('raised', 'w', 'watch');
    send('repeated', 'a');
    send('acknowledged', 'a');
    expect(counts()).to.deep.equal([2, [2, 1, 1, 0, 0]]);
    send('resolved', 'a');
    send('cleared', 'b');
    send('cleared', 'w', 'watch');
    expect(counts()).to.deep.equal([0, [2, 1, 1, 1, 1]]);
  });

  it('keeps what it had where what comes is of no use, and counts that', () => {
    const sink = prometheusSink();
    sink.read([READING]);
    const before = sink.text();
    sink.read([{} as never]);
    sink.read(null as never);
    sink.send(sampleTransition('exploded' as never));
    expect([sink.failures, sink.text()]).to.deep.equal([3, before]);
  });
});
