/** Merges units, using a disjoint-set forest. Each tree is one merged unit, named after its root. */
export class UnitedUnits {
  readonly #parents = new Map<string, string>();

  /** Returns the name of the merged unit that contains a unit. */
  nameOf(unit: string): string {
    let root = unit;
    for (let parent = this.#parents.get(root); parent !== undefined; parent = this.#parents.get(root)) root = parent;
    // Shortens the path for the next call.
    if (root !== unit) this.#parents.set(unit, root);
    return root;
  }

  /** Merges two units. */
  unite(first: string, second: string): void {
    const [root, other] = [this.nameOf(first), this.nameOf(second)];
    if (root !== other) this.#parents.set(other, root);
  }
}
