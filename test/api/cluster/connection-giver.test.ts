import type { Socket } from 'node:net';

import { expect } from 'chai';

import { ConnectionGiver, type Taker } from '../../../src/api/cluster/worker-group.ts';

/** Creates a fake socket with the members that the code uses. */
function socketNamed(name: string, destroyed: string[]): Socket {
  return { name, destroy: () => destroyed.push(name) } as unknown as Socket;
}

function openBench() {
  const giver = new ConnectionGiver();
  const given: string[] = [];
  const destroyed: string[] = [];
  const taker = (name: string): Taker => ({
    name,
    give: (id, socket) => given.push(`${String(id)}: ${(socket as unknown as { name: string }).name} to ${name}`),
  });
  const give = (...names: string[]): void => {
    for (const name of names) giver.give(socketNamed(name, destroyed));
  };
  return { giver, given, destroyed, taker, give };
}

describe('ConnectionGiver', () => {
  it('hands connections to workers in turn', () => {
    const { giver, given, taker, give } = openBench();
    giver.add(taker('A'));
    giver.add(taker('B'));
    give('a', 'b', 'c');
    expect(given).to.deep.equal(['1: a to B', '2: b to A', '3: c to B']);
  });

  it('keeps connections until there is a worker', () => {
    const { giver, given, taker, give } = openBench();
    give('a', 'b');
    giver.add(taker('A'));
    expect(given).to.deep.equal(['1: a to A', '2: b to A']);
  });

  it('releases connections when the worker has them', () => {
    const { giver, destroyed, taker, give } = openBench();
    giver.add(taker('A'));
    give('a', 'b');
    giver.took(1);
    giver.took(1);
    giver.took(99);
    expect(destroyed).to.deep.equal(['a']);
  });

  it('hands connections to another worker if one ends before it has received them', () => {
    const { giver, given, destroyed, taker, give } = openBench();
    giver.add(taker('A'));
    give('a', 'b');
    giver.took(1);
    giver.remove('A');
    giver.add(taker('B'));
    expect(given).to.deep.equal(['1: a to A', '2: b to A', '3: b to B']);
    expect(destroyed).to.deep.equal(['a']);
  });

  it('closes connections above a thousand waiting ones, and all of them at the end', () => {
    const { giver, destroyed, give } = openBench();
    give(...Array.from({ length: 1_001 }, (_, index) => String(index)));
    expect(destroyed).to.deep.equal(['1000']);
    giver.close();
    expect(destroyed).to.have.length(1_001);
  });
});
