import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

import { expect } from 'chai';

import { describeWithRedis } from '../../helpers/redis-server.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { until } from '../../helpers/waiting.ts';
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

const emptyKnown = (): Known => {
  const empty = () => new Map(STREAMS.map((name) => [name, [] as string[]]));
  return { events: empty(), labels: empty(), sent: 0 };
};

/** Waits until each stream has some batches of events. */
function untilSent({ events }: Known): Promise<void> {
  return until(() => [...events.values()].every(({ length }) => length > 20), 30);
}

/** Sends what was answered with 2xx again, and expects that the service knows all of it. Returns how much that is. */
async function expectKnown({ url: base }: ServiceProcess, known: Known): Promise<number> {
  let answered = 0;
  for (const stream of STREAMS) {
    // Clients may still be sending.
    const [events, labels] = [[...(known.events.get(stream) ?? [])], [...(known.labels.get(stream) ?? [])]];
    expect(events.length, 'the clients had time to send').to.be.above(20);
    // An event that was counted before is not counted again.
    const url = `${base}/monitor/${stream}`;
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
  return answered;
}

describe('a service that is killed while it receives events @slow', function () {
  this.timeout(120_000);
  const root = useTemporaryFolder();
  after(endServices);

  for (const workers of ['1', '2']) {
    it(`loses no event and no label that was answered with 2xx, with --workers ${workers}`, async () => {
      const args = ['--store', `${root()}/store-${workers}`, '--workers', workers];
      const known = emptyKnown();
      for (let round = 0; round < 4; round++) {
        const service = await startService(args);
        const clients = STREAMS.flatMap((stream) =>
          ['x', 'y'].map((client) => sendUntilLost(service, stream, `${client}${String(round)}`, known)),
        );
        await pause(400 + 150 * round);
        await untilSent(known);
        service.child.kill('SIGKILL');
        await Promise.all([service.ended, ...clients]);
      }
      const service = await startService(args);
      const answered = await expectKnown(service, known);
      console.log(`      ${String(answered)} events and labels answered with 2xx, 4 kills, none lost`);
      service.child.kill('SIGTERM');
      expect((await service.ended).code).to.equal(0);
    });
  }
});

describeWithRedis('two hosts, one of which is killed while they receive events @slow', (redis) => {
  after(endServices);

  it('lose no event and no label that was answered with 2xx, and answer the same', async function () {
    this.timeout(120_000);
    const args = ['--redis', redis().url, '--redis-prefix', `test-${randomUUID()}`];
    const known = emptyKnown();
    let [first, second] = [await startService(args), await startService(args)];
    for (let round = 0; round < 4; round++) {
      // The clients of both hosts write to the same streams.
      const clients = STREAMS.flatMap((stream) =>
        [first, second].map((host, index) => sendUntilLost(host, stream, `${String(index)}-${String(round)}`, known)),
      );
      await pause(400 + 150 * round);
      await untilSent(known);
      first.child.kill('SIGKILL');
      await first.ended;
      // The other host goes on without a pause.
      const before = known.sent;
      await until(() => known.sent > before, 5);
      expect(await expectKnown(second, known)).to.be.above(100);
      if (round === 3) second.child.kill('SIGKILL');
      else [first, second] = [second, await startService(args)];
      if (round === 3) await Promise.all([second.ended, ...clients]);
    }
    [first, second] = [await startService(args), await startService(args)];
    const answered = await expectKnown(first, known);
    expect(await expectKnown(second, known)).to.equal(answered);
    for (const stream of STREAMS) {
      for (const [path, accept] of [
        [stream, 'application/json'],
        [`${stream}/dashboard`, 'text/markdown'],
        [`${stream}/dashboard`, 'text/html'],
      ] as const) {
        const [one, other] = await Promise.all(
          [first, second].map(async ({ url }) => {
            const answer = await fetch(`${url}/monitor/${path}`, { headers: { accept } });
            expect(answer.status).to.equal(200);
            return answer.text();
          }),
        );
        expect(one).to.equal(other).and.to.include(stream);
      }
    }
    console.log(`      ${String(answered)} events and labels answered with 2xx, 5 kills, none lost`);
    for (const { child, ended } of [first, second]) {
      child.kill('SIGTERM');
      expect((await ended).code).to.equal(0);
    }
  });
});
