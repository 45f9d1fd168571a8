import { setTimeout as pause } from 'node:timers/promises';

import { expect } from 'chai';

import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { endServices, type ServiceProcess, startService } from '../serve/service-process.ts';

const STREAMS = ['a', 'b', 'c'];
const OPTIONS = 'y_pred=approved&sensitive=sex&y_true=repaid';

async function post(
  url: string,
  lines: readonly object[],
): Promise<{ accepted: number; repeated: number; n_events: number }> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
  });
  if (!answer.ok) throw new Error(`${String(answer.status)} ${await answer.text()}`);
  return (await answer.json()) as { accepted: number; repeated: number; n_events: number };
}

const eventOf = (id: string) => ({ id, approved: id.length % 2, sex: id.length % 3 === 0 ? 'f' : 'm' });

/** What clients know after the service was killed. */
interface Known {
  /** The ids of events and labels that were answered with 2xx, by stream. */
  readonly events: Map<string, string[]>;
  readonly labels: Map<string, string[]>;
  sent: number;
}

/** Sends events and their labels from one client, until the connection is lost. */
async function sendUntilLost({ url }: ServiceProcess, stream: string, client: string, known: Known): Promise<void> {
  for (let batch = 0; ; batch++) {
    const ids = Array.from({ length: 7 }, (_, index) => `${stream}-${client}-${String(batch)}-${String(index)}`);
    try {
      known.sent += ids.length;
      await post(`${url}/monitor/${stream}/events?${OPTIONS}`, ids.map(eventOf));
      known.events.get(stream)?.push(...ids);
      const labelled = ids.slice(0, 3);
      await post(
        `${url}/monitor/${stream}/labels`,
        labelled.map((id) => ({ id, repaid: 1 })),
      );
      known.labels.get(stream)?.push(...labelled);
    } catch {
      return;
    }
  }
}

describe('a service that is killed while it receives events @slow', function () {
  this.timeout(120_000);
  const root = useTemporaryFolder();
  after(endServices);

  for (const workers of ['1', '2']) {
    it(`loses no event and no label that was answered with 2xx, with --workers ${workers}`, async () => {
      const args = ['--store', `${root()}/store-${workers}`, '--workers', workers];
      const empty = () => new Map(STREAMS.map((name) => [name, [] as string[]]));
      const known: Known = { events: empty(), labels: empty(), sent: 0 };
      for (let round = 0; round < 4; round++) {
        const service = await startService(args);
        const clients = STREAMS.flatMap((stream) =>
          ['x', 'y'].map((client) => sendUntilLost(service, stream, `${client}${String(round)}`, known)),
        );
        await pause(400 + 150 * round);
        service.child.kill('SIGKILL');
        await Promise.all([service.ended, ...clients]);
      }
      const service = await startService(args);
      let answered = 0;
      for (const stream of STREAMS) {
        const [events = [], labels = []] = [known.events.get(stream), known.labels.get(stream)];
        expect(events.length, 'the clients had time to send').to.be.above(20);
        // An event that was counted before is not counted again.
        const url = `${service.url}/monitor/${stream}`;
        const again = await post(`${url}/events`, events.map(eventOf));
        expect(again).to.include({ accepted: 0, repeated: events.length });
        const second = await post(
          `${url}/labels`,
          labels.map((id) => ({ id, repaid: 1 })),
        );
        expect(second).to.include({ accepted: 0, repeated: labels.length });
        expect(again.n_events).to.be.at.least(events.length);
        answered += events.length + labels.length;
      }
      console.log(`      ${String(answered)} events and labels answered with 2xx, 4 kills, none lost`);
      service.child.kill('SIGTERM');
      expect((await service.ended).code).to.equal(0);
    });
  }
});
