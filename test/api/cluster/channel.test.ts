import { setImmediate as turn } from 'node:timers/promises';

import { expect } from 'chai';

import { type Channel, createChannel } from '../../../src/api/cluster/channel.ts';
import type { Handlers, Methods } from '../../../src/api/cluster/protocol.ts';
import { ServiceProblem } from '../../../src/api/problem/service-problem.ts';
import { createLinePair, type LinePair } from './lines.ts';

type Asked = {
  double: (value: number) => number;
  fail: (how: 'problem' | 'error' | 'unsendable') => unknown;
  hang: (name: string) => string;
  count: (upTo: number) => boolean;
};

interface Bench extends LinePair {
  readonly asking: Channel<Asked>;
  readonly aborted: string[];
  /** Sends the subscriber of `count` the next number. */
  readonly emitLate: (value: unknown) => void;
}

function openBench(): Bench {
  const pair = createLinePair();
  const aborted: string[] = [];
  let emitLate: (value: unknown) => void = () => undefined;
  const handlers: Handlers<Asked> = {
    double: (value) => value * 2,
    fail: (how) => {
      if (how === 'problem') {
        throw new ServiceProblem(422, {
          detail: 'It is wrong.',
          suggestion: 'Fix it.',
          errors: [{ pointer: '/a', detail: 'b' }],
          runId: 'r',
          headers: { 'Retry-After': '3' },
        });
      }
      if (how === 'unsendable') return () => undefined;
      throw new TypeError('an internal error');
    },
    hang: (name, { signal }) =>
      new Promise(() => {
        signal.addEventListener('abort', () => aborted.push(name));
      }),
    count: (upTo, { signal, emit }) => {
      for (let value = 1; value <= upTo; value++) emit(value);
      emitLate = emit;
      signal.addEventListener('abort', () => aborted.push('count'));
      return upTo > 0;
    },
  };
  createChannel<Methods, Asked>(pair.right, handlers);
  const asking = createChannel<Asked, Methods>(pair.left, {});
  return {
    ...pair,
    asking,
    aborted,
    emitLate: (value) => {
      emitLate(value);
    },
  };
}

async function turns(count = 5): Promise<void> {
  for (let index = 0; index < count; index++) await turn();
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.fail('It should have been rejected.'),
    (error: unknown) => error,
  );
}

describe('a channel between processes', () => {
  it('returns the answer of each call to its caller', async () => {
    const { asking } = openBench();
    const answers = await Promise.all([1, 2, 3, 4].map((value) => asking.call('double', value)));
    expect(answers).to.deep.equal([2, 4, 6, 8]);
  });

  it('sends the calls of one turn of the event loop in one message, and their answers too', async () => {
    const { asking, sent } = openBench();
    await Promise.all(Array.from({ length: 100 }, (_, value) => asking.call('double', value)));
    expect(sent).to.have.length(2);
  });

  it('transports problems completely, with their headers', async () => {
    const { asking } = openBench();
    const problem = await rejection(asking.call('fail', 'problem'));
    expect(problem).to.be.instanceOf(ServiceProblem);
    const { status, detail, suggestion, errors, runId, headers } = problem as ServiceProblem;
    expect({ status, detail, suggestion, errors, runId, headers }).to.deep.equal({
      status: 422,
      detail: 'It is wrong.',
      suggestion: 'Fix it.',
      errors: [{ pointer: '/a', detail: 'b' }],
      runId: 'r',
      headers: { 'Retry-After': '3' },
    });
  });

  it('transports internal errors as ordinary errors, so that their text reaches only the log', async () => {
    const { asking } = openBench();
    const found = await rejection(asking.call('fail', 'error'));
    expect(found).to.be.instanceOf(Error).and.not.instanceOf(ServiceProblem);
    expect((found as Error).message).to.contain('an internal error');
  });

  it('rejects a call of an unknown method', async () => {
    const { asking } = openBench();
    const found = await rejection((asking as Channel<never>).call('toString' as never, undefined as never));
    expect((found as Error).message).to.contain("Unknown method 'toString'");
  });

  it('rejects only the call whose argument cannot be sent', async () => {
    const { asking } = openBench();
    const bad = rejection(asking.call('double', (() => 1) as never));
    const badAnswer = rejection(asking.call('fail', 'unsendable'));
    expect(await asking.call('double', 21)).to.equal(42);
    expect(String(await bad)).to.contain('could not be cloned');
    expect(String(await badAnswer)).to.contain('could not be cloned');
  });

  it('rejects with the reason of a signal, and notifies the other side that the caller no longer waits', async () => {
    const { asking, aborted } = openBench();
    const controller = new AbortController();
    const waiting = rejection(asking.call('hang', 'a', controller.signal));
    await turns();
    controller.abort('enough');
    expect(await waiting).to.equal('enough');
    await turns();
    expect(aborted).to.deep.equal(['a']);
    expect(await rejection(asking.call('hang', 'b', controller.signal))).to.equal('enough');
  });

  it('delivers the events of a subscription, before and after its answer, until it ends', async () => {
    const { asking, emitLate, aborted } = openBench();
    const events: number[] = [];
    const { answer, end } = await asking.subscribe('count', 2, (event: number) => events.push(event));
    expect(answer).to.equal(true);
    emitLate(3);
    await turns();
    expect(events).to.deep.equal([1, 2, 3]);
    end();
    await turns();
    emitLate(4);
    await turns();
    expect(events).to.deep.equal([1, 2, 3]);
    expect(aborted).to.deep.equal(['count']);
  });

  it('ends a subscription without events', async () => {
    const { asking, aborted } = openBench();
    const { answer, end } = await asking.subscribe('count', 0, () => undefined);
    expect(answer).to.equal(false);
    end();
    end();
    await turns();
    expect(aborted).to.deep.equal(['count']);
  });

  it('rejects pending and later calls with 503 when the other side has ended', async () => {
    const { asking, aborted, close } = openBench();
    const waiting = rejection(asking.call('hang', 'a'));
    await asking.subscribe('count', 1, () => undefined);
    await turns();
    close();
    for (const problem of [await waiting, await rejection(asking.call('double', 1))]) {
      expect(problem).to.be.instanceOf(ServiceProblem);
      expect((problem as ServiceProblem).status).to.equal(503);
    }
    expect(aborted).to.have.members(['a', 'count']);
  });

  it('ignores messages of other kinds', async () => {
    const { asking, left, right } = openBench();
    for (const message of ['hello', null, 7, { cmd: 'x' }]) {
      left.send(message);
      right.send(message);
    }
    expect(await asking.call('double', 1)).to.equal(2);
  });
});
