import type { GateVerdict } from '../../../src/integration/gates.ts';
import type { ReportFact, ReportSection, ReportVerdict } from '../../../src/document/report-document.ts';
import type { Gate } from '../../../src/schemas/gates.ts';
import type { SweepPoint } from './training-protocol.ts';

/** The messages between the page and its worker. All work on data runs in the worker. */

/** The settings of an audit. They name columns and options, and never contain rows. */
export interface AuditSettings {
  readonly yPred?: string | undefined;
  readonly score?: string | undefined;
  readonly scoreThreshold?: number | undefined;
  readonly yTrue?: string | undefined;
  readonly sensitive: readonly string[];
  /** Whether the combinations of all sensitive attributes are measured too. */
  readonly isCrossed?: boolean | undefined;
  readonly control?: string | undefined;
  readonly sampleWeight?: string | undefined;
  readonly cluster?: string | undefined;
  readonly positiveLabel?: string | undefined;
  readonly yTruePositiveLabel?: string | undefined;
  readonly minGroupSize?: number | undefined;
  readonly ciLevel?: number | undefined;
  readonly gates: readonly Pick<Gate, 'metric' | 'threshold'>[];
  readonly decimal?: ',' | undefined;
}

/** A role of a column, which was guessed, and why. */
interface GuessedRole {
  readonly column: string;
  readonly reason: string;
}

/** A column of a file, described by its first rows. */
export interface ColumnSummary {
  readonly name: string;
  readonly kind: 'numbers' | 'labels';
  /** The number of different values, and of missing values, in the rows that were read. */
  readonly distinct: number;
  readonly missing: number;
  /** Labels in descending order of frequency, or the range of numbers. */
  readonly examples: string;
  /** The smallest and the largest number; null for labels. */
  readonly range: readonly [number, number] | null;
  /** Whether other columns have the same name. */
  readonly isRepeated: boolean;
}

/** A file that is open in the worker. */
export interface OpenedFile {
  readonly name: string;
  readonly bytes: number;
  readonly format: string;
  /** The number of rows; null if the file is so large that they are not counted yet. */
  readonly rowCount: number | null;
  readonly columns: readonly ColumnSummary[];
  readonly preview: readonly (readonly string[])[];
  readonly guesses: {
    readonly decision: GuessedRole | undefined;
    readonly truth: GuessedRole | undefined;
    readonly score: GuessedRole | undefined;
    readonly weight: GuessedRole | undefined;
    readonly sensitive: readonly GuessedRole[];
    readonly passedOver: readonly GuessedRole[];
  };
}

/** The labels of a column, with their numbers of rows. */
export interface LabelChoices {
  /** Whether somebody must choose the positive label: the labels are not 0 and 1, or true and false. */
  readonly isNeeded: boolean;
  readonly guess: string | undefined;
  readonly counts: readonly { readonly label: string; readonly count: number }[];
  /** The number of different labels. */
  readonly distinct: number;
}

/** The values of a measure for the groups that are compared. */
interface GroupValue {
  readonly label: string;
  readonly n: number;
  readonly value: number | null;
  readonly ci: readonly [number, number] | null;
}

/** One metric of one attribute. */
export interface MetricView {
  readonly metric: string;
  readonly title: string;
  readonly value: number | null;
  readonly valueText: string;
  readonly ci: readonly [number, number | null] | null;
  readonly ciText: string | null;
  readonly facts: readonly ReportFact[];
  readonly first: string | null;
  readonly second: string | null;
  readonly minimumDetectable: number | null;
  readonly measures: readonly {
    readonly name: string;
    readonly title: string;
    readonly isShare: boolean;
    readonly groups: readonly GroupValue[];
  }[];
  readonly excluded: readonly { readonly label: string; readonly n: number; readonly reason: string }[];
  readonly nDropped: number;
  readonly undefinedReason: string | null;
  readonly warnings: readonly string[];
}

/** The results of one attribute. */
export interface AttributeView {
  readonly name: string;
  readonly metrics: readonly MetricView[];
  /** Gaps that change their sign within levels of the control feature. */
  readonly controlWarnings: readonly string[];
  /** The tables and details of the report. */
  readonly section: ReportSection | undefined;
  /** The number of charts. */
  readonly charts: readonly { readonly title: string; readonly description: string }[];
}

/** The result of an audit. */
export interface AuditResult {
  readonly settings: AuditSettings;
  readonly source: string;
  readonly verdict: ReportVerdict;
  readonly passed: boolean | null;
  readonly gates: readonly GateVerdict[];
  /** What to consider about the data before the numbers are quoted. */
  readonly notes: readonly string[];
  readonly attributes: readonly AttributeView[];
  readonly labels: ReportSection | undefined;
  readonly howToRead: readonly string[];
  readonly changes: ReportSection | undefined;
  readonly rows: number | null;
  readonly command: string;
  readonly gateFile: string;
  readonly seconds: number;
}

/** The rates of the groups of one attribute at a score threshold. */
export interface ThresholdView {
  readonly threshold: number;
  readonly metrics: readonly MetricView[];
}

/** How charts are drawn. */
export interface DrawOptions {
  readonly width: number;
  readonly isDark: boolean;
}

/** A file that a report becomes. */
export type ExportKind = 'html' | 'md' | 'json' | 'csv' | 'svg';

/** What somebody compares a result with. */
export type CompareWith =
  | { readonly kind: 'result'; readonly file: File }
  | { readonly kind: 'file'; readonly file: File }
  | { readonly kind: 'column'; readonly column: string };

/** The columns that a model may learn from, and those that it should not, with the reasons. */
export interface FeatureChoices {
  readonly features: readonly string[];
  readonly left: readonly GuessedRole[];
}

/** A picture of a trade-off, and the places of its points in percent of its width and height. */
export interface ParetoPicture {
  readonly svg: string;
  readonly description: string;
  readonly places: readonly { readonly left: number; readonly top: number }[];
}

/** The functions of the worker: the type of each request and of its answer. */
export interface Engine {
  open(file: File, decimal?: ','): OpenedFile;
  openSample(name: string): OpenedFile;
  labels(column: string): LabelChoices;
  audit(settings: AuditSettings, compareWith?: CompareWith): AuditResult;
  /** Draws the charts of the last audit, by attribute. */
  draw(options: DrawOptions): readonly (readonly string[])[];
  threshold(attribute: string, threshold: number): ThresholdView;
  export(kind: ExportKind): Blob;
  /** Returns the open file, also of a sample. */
  file(): File;
  /** Guesses what a model may learn from. */
  features(target: string, positiveLabel: string | undefined, used: readonly string[]): FeatureChoices;
  /** Describes what changed between two results in JSON. */
  compareResults(before: string, after: string): ReportSection;
  /** Draws the points of a sweep. */
  pareto(points: readonly SweepPoint[], isDark: boolean): ParetoPicture;
}

/** A request to the worker. */
export type Request = {
  readonly [Name in keyof Engine]: {
    readonly id: number;
    readonly name: Name;
    readonly args: Parameters<Engine[Name]>;
  };
}[keyof Engine];

/** An error in the worker, as plain data. */
export interface Problem {
  readonly message: string;
  readonly suggestion: string | undefined;
  readonly code: string | undefined;
}

/** A message from the worker. */
export type Answer =
  | { readonly id: number; readonly kind: 'value'; readonly value: unknown }
  | { readonly id: number; readonly kind: 'problem'; readonly problem: Problem }
  | {
      readonly id: number;
      readonly kind: 'progress';
      readonly stage: string;
      readonly done: number;
      readonly total: number;
    };
