import path from 'node:path';

import { expect } from 'chai';

import type { AlertSink, AlertTransition } from '../../../src/monitoring/alarms/alert-event.ts';
import { logSink, ndjsonSink, prometheusSink, webhookSink } from '../../../src/monitoring/sinks/index.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { sampleTransition } from './sample-transition.ts';

const folder = useTemporaryFolder();
const accepting = () => Promise.resolve(new Response(null, { status: 204 }));

const SINKS: Readonly<Record<string, () => AlertSink>> = {
  log: () => logSink(),
  ndjson: () => ndjsonSink(path.join(folder(), 'every.ndjson')),
  prometheus: () => prometheusSink(),
  webhook: () => webhookSink({ url: 'http://127.0.0.1:9/', fetch: accepting }),
};

/** An alert whose serialization always throws. */
const circular = (): AlertTransition => {
  const alert = { ...sampleTransition().alert } as Record<string, unknown>;
  alert['share'] = alert;
  return { change: 'raised', timestamp: 'now', alert } as unknown as AlertTransition;
};

for (const [name, open] of Object.entries(SINKS)) {
  describe(`the sink ${name}, as every sink`, () => {
    it('has its name, and accepts transitions without a failure', async () => {
      const sink = open();
      expect([sink.name, sink.failures]).to.deep.equal([name, 0]);
      for (const change of ['raised', 'repeated', 'acknowledged', 'resolved', 'cleared'] as const) {
        sink.send(sampleTransition(change));
        sink.send(sampleTransition(change, { tier: 'watch', share: null, driftScore: 0.1, changedAt: 'then' }));
      }
      sink.read?.([]);
      await sink.close();
      expect(sink.failures).to.equal(0);
    });

    for (const junk of [undefined, null, 5, {}, { change: 'raised' }, { alert: null }]) {
      it(`does not throw on ${JSON.stringify(junk)}, and counts it`, async () => {
        const sink = open();
        sink.send(junk as never);
        sink.read?.(junk as never);
        await sink.close();
        expect(sink.failures).to.be.at.least(1);
      });
    }

    it('does not throw on an alert with a circular reference', async () => {
      const sink = open();
      sink.send(circular());
      await sink.close();
      expect(sink.failures).to.equal(name === 'ndjson' || name === 'webhook' ? 1 : 0);
    });

    it('may be closed twice, and does not throw if it receives alerts afterwards', async () => {
      const sink = open();
      await sink.close();
      await sink.close();
      sink.send(sampleTransition());
      sink.read?.([]);
      await sink.close();
    });
  });
}
