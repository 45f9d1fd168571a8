/** Keys are increased by these amounts, relative and absolute, so that rounding never makes a key too small. */
const ROUND_UP = 2 ** -22;
const SLACK = 1e-7;

/**
 * The largest of many keys, one for each group, as a binary tree: the key of a node is the largest key below it. A new
 * key takes a logarithmic number of steps at most, and usually a few. Keys are numbers of about 1 at most. They are rounded
 * up, and stored with 32 bits.
 */
export class MaxTree {
  /** The root has the index 1. The children of node i have the indices 2i and 2i + 1. */
  #keys = new Float32Array(2).fill(-Infinity);

  /** The largest key; -Infinity if there is none. */
  get max(): number {
    return this.#keys[1] as number;
  }

  /** Sets the key of a group. The key -Infinity means that the group has no key. */
  set(group: number, key: number): void {
    if (group >= this.#size) {
      if (key === -Infinity) return;
      this.#grow(group);
    }
    const keys = this.#keys;
    let node = group + this.#size;
    let largest = key === -Infinity ? key : Math.fround(key + Math.abs(key) * ROUND_UP + SLACK);
    if (keys[node] === largest) return;
    keys[node] = largest;
    while (node > 1) {
      const sibling = keys[node ^ 1] as number;
      if (sibling > largest) largest = sibling;
      node >>= 1;
      if (keys[node] === largest) return;
      keys[node] = largest;
    }
  }

  /**
   * Visits the groups whose keys are at least a minimum, mostly in descending order of their keys.
   * @param visit returns the new minimum. It may change the key of the visited group
   */
  walk(min: number, visit: (group: number, min: number) => number): void {
    this.#walk(1, min, visit);
  }

  #walk(node: number, min: number, visit: (group: number, min: number) => number): number {
    const key = this.#keys[node] as number;
    if (!(key >= min) || key === -Infinity) return min;
    if (node >= this.#size) return visit(node - this.#size, min);
    const left = 2 * node;
    const first = (this.#keys[left] as number) >= (this.#keys[left + 1] as number) ? left : left + 1;
    return this.#walk(first ^ 1, this.#walk(first, min, visit), visit);
  }

  /** The number of groups for which there is room. */
  get #size(): number {
    return this.#keys.length / 2;
  }

  #grow(group: number): void {
    const old = this.#keys.subarray(this.#size);
    let size = this.#size;
    while (size <= group) size *= 2;
    const keys = new Float32Array(2 * size).fill(-Infinity);
    keys.set(old, size);
    for (let node = size - 1; node > 0; node--) {
      keys[node] = Math.max(keys[2 * node] as number, keys[2 * node + 1] as number);
    }
    this.#keys = keys;
  }
}
