import { expect } from 'chai';

import { createRandom } from '../../../src/internal/random.ts';
import { GroupChanges } from '../../../src/monitoring/tracker/group-changes.ts';

describe('the list of changed groups', () => {
  it('contains every group that changed since a position, for several readers at different speeds', () => {
    const random = createRandom(8);
    const changes = new GroupChanges();
    const readers = [1, 5, 60].map((every) => ({ every, position: -1, truth: new Set<number>() }));
    let lists = 0;
    let complete = 0;
    for (let step = 0; step < 20_000; step++) {
      const isAll = random.next() < 0.0005;
      if (isAll) changes.noteAll();
      for (let change = random.integer(12); change > 0; change--) {
        const group = random.integer(1 + random.integer(1 + Math.floor(step / 20)));
        changes.note(group);
        for (const { truth } of readers) truth.add(group);
      }
      if (isAll) for (const { truth } of readers) truth.add(-1);
      for (const reader of readers) {
        if (step % reader.every > 0) continue;
        const found = changes.since(reader.position);
        if (found === null) complete++;
        else {
          lists++;
          expect(new Set(found), `step ${String(step)}`).to.deep.equal(reader.truth);
        }
        reader.position = changes.mark();
        reader.truth.clear();
      }
    }
    // Only few reads have to read all groups, otherwise the list would be of no use.
    expect(lists).to.be.above(20_000);
    expect(complete).to.be.within(3, 1500);
  });

  it('lists a group that changed often once', () => {
    const changes = new GroupChanges();
    for (let time = 0; time < 1000; time++) changes.note(time % 3);
    expect([...(changes.since(0) ?? [])]).to.deep.equal([0, 1, 2]);
  });
});
