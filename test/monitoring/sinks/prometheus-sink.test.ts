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
  it('has names, types and counts of 0 before the first update', () => {
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

  it('has the values of each reading, and one series per state', () => {
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

  it('has NaN for undefined values, and every number parses back unchanged', () => {
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
    it(`parses the label ${JSON.stringify(attribute)} back unchanged`, () => {
      const sink = prometheusSink();
      sink.read([{ ...READING, attribute }]);
      expect(parseExposition(sink.text()).get('evenhand_fairness_gap')?.samples[0]?.labels['attribute']).to.equal(
        attribute,
      );
    });
  }

  it('has only the latest readings, and the later of two with the same names', () => {
    const sink = prometheusSink();
    sink.read([READING, { ...READING, metric: 'b' }]);
    sink.read([READING, { ...READING, value: 0.5 }]);
    const samples = parseExposition(sink.text()).get('evenhand_fairness_gap')?.samples;
    expect(samples?.map(({ labels, value }) => [labels['metric'], value])).to.deep.equal([[READING.metric, 0.5]]);
  });

  it('is not affected if the caller changes a reading', () => {
    const sink = prometheusSink();
    const reading = { ...READING };
    sink.read([reading]);
    reading.value = 9;
    expect(parseExposition(sink.text()).get('evenhand_fairness_gap')?.samples[0]?.value).to.equal(0.25);
  });

  it('counts open alarms and changes of alarms, but no watches', () => {
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

  it('keeps its values if an update is invalid, and counts the failure', () => {
    const sink = prometheusSink();
    sink.read([READING]);
    const before = sink.text();
    sink.read([{} as never]);
    sink.read(null as never);
    sink.send(sampleTransition('exploded' as never));
    expect([sink.failures, sink.text()]).to.deep.equal([3, before]);
  });
});
