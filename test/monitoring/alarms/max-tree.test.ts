import { expect } from 'chai';

import { createRandom } from '../../../src/internal/random.ts';
import { MaxTree } from '../../../src/monitoring/alarms/max-tree.ts';

describe('a tree of maxima', () => {
  it('has the largest key, and visits every group whose key is at least the minimum', () => {
    const random = createRandom(2);
    const tree = new MaxTree();
    const keys = new Map<number, number>();
    expect(tree.max).to.equal(-Infinity);
    for (let step = 0; step < 1500; step++) {
      const group = random.integer(1 + Math.floor(step / 4));
      const key = random.next() < 0.3 ? -Infinity : ([1e-9, 0, -0.3, 1][random.integer(4)] ?? 0);
      keys.set(group, key === -Infinity || random.next() < 0.3 ? key : key * random.next());
      tree.set(group, keys.get(group) as number);
      const largest = Math.max(-Infinity, ...keys.values());
      expect(tree.max).to.be.within(largest, largest + 1e-6);
      const min = random.next() - 0.5;
      const visited: number[] = [];
      tree.walk(min, (one) => {
        visited.push(one);
        return min;
      });
      const expected = [...keys].filter(([, one]) => one >= min).map(([one]) => one);
      expect(visited).to.include.members(expected);
      for (const one of visited) expect(keys.get(one)).to.be.at.least(min - 1e-6);
      expect(new Set(visited).size).to.equal(visited.length);
    }
  });

  it('visits few groups if the visitor raises the minimum', () => {
    const tree = new MaxTree();
    for (let group = 0; group < 5000; group++) tree.set(group, ((group * 37) % 5000) / 5000);
    const visited: number[] = [];
    tree.walk(-Infinity, (group) => visited.push(group) && ((group * 37) % 5000) / 5000);
    expect(visited[0]).to.equal(
      Array.from({ length: 5000 }, (_, group) => group).find((group) => (group * 37) % 5000 === 4999),
    );
    expect(visited).to.have.length.below(5);
  });
});
