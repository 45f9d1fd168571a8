/** A place in a text; both count from 1. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** Where one entry of a mapping or list stands. */
export interface EntryPlace {
  /** The key as it is written. */
  readonly written: string | number;
  readonly key: TextPlace;
  /** The key's place where there is no value. */
  readonly value: TextPlace;
  /** A scalar as it is written; null for anything else. */
  readonly source: string | null;
}

/** Where a mapping or list and its entries stand. */
interface ContainerPlaces {
  readonly at: TextPlace;
  readonly entries: ReadonlyMap<string | number, EntryPlace>;
}

/** The places of every mapping and list of a document, by the object it became. */
export type YamlPlaces = WeakMap<object, ContainerPlaces>;

/** Something that keeps a text from being read. */
export interface YamlFault extends TextPlace {
  readonly message: string;
  readonly suggestion: string;
}

/** A text as data, with the places of its parts; `value` is null where there are faults. */
export interface YamlDocument {
  readonly value: unknown;
  readonly places: YamlPlaces;
  readonly faults: readonly YamlFault[];
}
