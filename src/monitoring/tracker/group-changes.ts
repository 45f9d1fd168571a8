/** The number of entries that are kept in any case, as a multiple of the number of groups. */
const MAX_LOGS_PER_GROUP = 4;

/**
 * The groups of a table whose sums have changed, in the order of the changes. Readers remember a position, and later
 * ask for the groups that have changed since. A group that changes several times between two positions is listed once.
 */
export class GroupChanges {
  /** For each group, the epoch in which its last change was listed. */
  #epochs = new Uint32Array(16);
  /** The current epoch. An epoch ends when a reader asks for its position. */
  #epoch = 1;
  #log = new Int32Array(64);
  /** The number of entries of the log. */
  #length = 0;
  /** The position of the first entry of the log. */
  #start = 0;
  /** The position at which the current epoch began. */
  #epochStart = 0;

  /** Notes that the sums of a group have changed. */
  note(code: number): void {
    if (this.#epochs[code] !== this.#epoch) this.#append(code);
  }

  /** Notes that the sums of any group may have changed. Readers then read all groups. */
  noteAll(): void {
    this.#start += this.#length + 1;
    this.#length = 0;
    this.#beginEpoch();
  }

  /** Returns the current position, for {@link GroupChanges.since}. */
  mark(): number {
    const position = this.#start + this.#length;
    if (position > this.#epochStart) this.#beginEpoch();
    return position;
  }

  /**
   * Returns the groups that have changed since a position. The result is valid until the next change.
   * @returns null if any group may have changed, because the position is too old, or -1
   */
  since(position: number): Int32Array | null {
    return position < this.#start ? null : this.#log.subarray(position - this.#start, this.#length);
  }

  #beginEpoch(): void {
    this.#epoch++;
    this.#epochStart = this.#start + this.#length;
  }

  #append(code: number): void {
    if (code >= this.#epochs.length) {
      const epochs = new Uint32Array(2 * (code + 1));
      epochs.set(this.#epochs);
      this.#epochs = epochs;
    }
    this.#epochs[code] = this.#epoch;
    if (this.#length === this.#log.length) this.#makeRoom();
    this.#log[this.#length++] = code;
  }

  /** Makes the log longer. A log of the maximum length is emptied, so that readers have to read all groups once. */
  #makeRoom(): void {
    if (this.#log.length < MAX_LOGS_PER_GROUP * this.#epochs.length) {
      const log = new Int32Array(2 * this.#log.length);
      log.set(this.#log);
      this.#log = log;
      return;
    }
    this.#start += this.#length;
    this.#length = 0;
  }
}
