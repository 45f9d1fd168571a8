import { expect } from 'chai';

import { FairnessDriftAndAlertEngine } from '../../../src/monitoring/alarms/fairness-drift-and-alert-engine.ts';
import { FairnessReportingDashboard } from '../../../src/monitoring/dashboard/fairness-reporting-dashboard.ts';
import { RecordLog } from '../../../src/monitoring/records/record-log.ts';
import { replay } from '../../../src/monitoring/replay.ts';
import { webhookSink } from '../../../src/monitoring/sinks/webhook-sink.ts';
import { RealTimeFairnessTracker } from '../../../src/monitoring/tracker/real-time-fairness-tracker.ts';

const COLUMNS = { yPred: 'p', protected: ['sex'] };
const make = (options: object = {}): RealTimeFairnessTracker =>
  new RealTimeFairnessTracker({ columns: COLUMNS, ...options });
const made = (options?: unknown): unknown => new RealTimeFairnessTracker(options as never);
const engine = (options?: unknown): FairnessDriftAndAlertEngine => new FairnessDriftAndAlertEngine(options as never);

/** Mistakes of users of plain JavaScript: the call, the name of the error, and a part of its message. */
const SLIPS: readonly (readonly [what: string, act: () => unknown, error: string, message: string])[] = [
  ['a tracker without options', () => made(), 'ValueError', 'The options parameter must be an object'],
  ['a tracker without columns', () => made({}), 'ValueError', 'The columns parameter must name the columns'],
  [
    'protected columns that are not a list',
    () => made({ columns: { yPred: 'p', protected: 'sex' } }),
    'ValueError',
    "The columns.protected parameter must be a list of columns, as in ['sex']. Got 'sex' instead.",
  ],
  ['no column of decisions', () => made({ columns: { protected: ['sex'] } }), 'ValueError', 'columns.yPred'],
  [
    'intersections that are not a list',
    () => make({ columns: { ...COLUMNS, intersections: 'x' } }),
    'ValueError',
    'intersections',
  ],
  [
    'an intersection that is a text',
    () => make({ columns: { ...COLUMNS, intersections: ['sex'] } }),
    'ValueError',
    'intersections',
  ],
  ['metrics that are not a list', () => make({ metrics: 'demographic_parity_difference' }), 'ValueError', 'metrics'],
  ['groups that are a list', () => make({ groups: ['f'] }), 'ValueError', 'The groups parameter'],
  ['groups of an attribute that are a text', () => make({ groups: { sex: 'f' } }), 'ValueError', 'groups.sex'],
  ['a duplicate declared group', () => make({ groups: { sex: ['f', 'f'] } }), 'ValueError', 'groups.sex'],
  ['a threshold that is true', () => make({ decisionThreshold: true }), 'ValueError', 'decisionThreshold'],
  ['a level that is a text', () => make({ level: '0.9' }), 'ValueError', 'level'],
  ['a scale that is a text', () => make({ errorScale: '9' }), 'ValueError', 'errorScale'],
  ['a label that is a number', () => make({ positiveLabel: 1 }), 'ValueError', 'positiveLabel'],
  ['a label of the truth that is a number', () => make({ yTruePositiveLabel: 1 }), 'ValueError', 'yTruePositiveLabel'],
  ['missing texts that are a text', () => make({ naValues: 'NA' }), 'ValueError', 'naValues'],
  ['a store that is a number', () => make({ store: 5 }), 'ValueError', 'The store parameter'],
  ['a clock that is a number', () => make({ clock: 5 }), 'ValueError', 'The clock parameter'],
  ['a window beyond memory', () => make({ windowSize: 100_000_001 }), 'ValueError', 'windowSize'],
  ['a horizon beyond memory', () => make({ labelHorizon: 1e15 }), 'ValueError', 'labelHorizon'],
  [
    'an undefined event',
    () => {
      make().record(undefined as never);
    },
    'DataValidationError',
    'An event must be an object',
  ],
  [
    'an event that is a number',
    () => {
      make().record(5 as never);
    },
    'DataValidationError',
    'it is 5',
  ],
  [
    'an event that is a list',
    () => {
      make().record([] as never);
    },
    'DataValidationError',
    'it is a list',
  ],
  [
    'a weight that is too large',
    () => {
      make({ columns: { ...COLUMNS, weight: 'w' } }).record({ p: 1, sex: 'f', w: 1e80 });
    },
    'DataValidationError',
    "'w' must be a number of at most 1e75",
  ],
  ['an undefined batch', () => make().recordBatch(undefined as never), 'DataValidationError', 'The argument batch'],
  ['a batch that is a number', () => make().recordBatch(5 as never), 'DataValidationError', 'The argument batch'],
  [
    'a batch with a missing entry',
    () => make().recordBatch([{ p: 1, sex: 'f' }, null] as never),
    'DataValidationError',
    'entry 2 is missing',
  ],
  [
    'undefined ids of labels',
    () => make().labelBatch(undefined as never, []),
    'DataValidationError',
    'The argument ids',
  ],
  ['a merge with a number', () => make().merge(5 as never), 'ValueError', 'The other parameter'],
  [
    'a merge of trackers with other columns',
    () => make().merge(make({ columns: { ...COLUMNS, yPred: 'q' } })),
    'ValueError',
    'differ in their columns',
  ],
  ['engine options that are a text', () => engine('x'), 'ValueError', 'The options parameter'],
  ['engine options that are null', () => engine(null), 'ValueError', 'The options parameter'],
  ['limits that are a number', () => engine({ limits: 0.1 }), 'ValueError', 'The limits parameter'],
  ['a limit that is a text', () => engine({ limits: { x: '0.1' } }), 'ValueError', 'limits.x'],
  ['a cool-down that is a text', () => engine({ cooldownMillis: '5' }), 'ValueError', 'cooldownMillis'],
  ['an alpha that is a text', () => engine({ alpha: '0.1' }), 'ValueError', 'alpha'],
  ['detectors that are a text', () => engine({ detectors: 'adwin' }), 'ValueError', 'The detectors parameter'],
  ['an invalid sink', () => engine({ sinks: [5] }), 'ValueError', 'The sinks[0] parameter'],
  ['sinks that are not a list', () => engine({ sinks: {} }), 'ValueError', 'The sinks parameter'],
  ['an update without a tracker', () => engine().update(undefined as never), 'ValueError', 'The tracker parameter'],
  [
    'a watch without a tracker',
    () => {
      engine().watch(undefined as never);
    },
    'ValueError',
    'The tracker parameter',
  ],
  [
    'a restore without a tracker',
    () => FairnessDriftAndAlertEngine.restore({} as never, 5 as never),
    'ValueError',
    'tracker',
  ],
  [
    'an alarm without an id',
    () => {
      engine().acknowledge(undefined as never);
    },
    'ValueError',
    'no open alert',
  ],
  ['a webhook without options', () => webhookSink(undefined as never), 'ValueError', 'The options parameter'],
  ['a webhook without an address', () => webhookSink({} as never), 'ValueError', 'The url parameter'],
  [
    'a webhook with invalid headers',
    () => webhookSink({ url: 'http://a.example', headers: 5 as never }),
    'ValueError',
    'The headers parameter',
  ],
  [
    'a webhook with an invalid fetch',
    () => webhookSink({ url: 'http://a.example', fetch: 5 as never }),
    'ValueError',
    'The fetch parameter',
  ],
  [
    'undefined records',
    () => {
      new RecordLog().append(null as never);
    },
    'DataValidationError',
    'The argument records',
  ],
  [
    'records with a missing entry',
    () => {
      new RecordLog().append([undefined] as never);
    },
    'DataValidationError',
    'The argument records',
  ],
  [
    'a dashboard without parts',
    () => new FairnessReportingDashboard(undefined as never),
    'ValueError',
    'The parts parameter',
  ],
  [
    'a dashboard without a tracker',
    () => new FairnessReportingDashboard({} as never),
    'ValueError',
    'The tracker parameter',
  ],
  [
    'a dashboard without an engine',
    () => new FairnessReportingDashboard({ tracker: make() } as never),
    'ValueError',
    'The engine parameter',
  ],
];

describe('an argument of the wrong kind', () => {
  for (const [what, act, error, message] of SLIPS) {
    it(`is reported: ${what}`, () => {
      expect(act).to.throw(message).with.property('name', error);
    });
  }

  for (const [what, source, options, message] of [
    ['no options', [], undefined, 'The options parameter'],
    ['no tracker', [], {}, 'The options parameter'],
    ['no rows', undefined, { tracker: { columns: COLUMNS } }, 'The argument source'],
    ['a number of rows', 5, { tracker: { columns: COLUMNS } }, 'The argument source'],
  ] as const) {
    it(`is reported by a replay: ${what}`, async () => {
      const error: unknown = await replay(source as never, options as never).catch((cause: unknown) => cause);
      expect(error).to.have.property('message').that.includes(message);
    });
  }

  it('that is a group with a very long label is not counted for its attribute', () => {
    const tracker = make({ columns: { yPred: 'p', protected: ['sex', 'race'], intersections: [['sex', 'race']] } });
    tracker.record({ p: 1, sex: 'f'.repeat(1001), race: 'a' });
    tracker.recordBatch({ p: [1, 1], sex: ['f'.repeat(1000), 'm'.repeat(2000)], race: ['b'.repeat(1000), 'a'] });
    expect(tracker.faults).to.deep.equal({ long_label: 2 });
    expect(tracker.stream.reader.groups.map(({ labels }) => labels.map(({ length }) => length))).to.deep.equal([
      [1000],
      [1, 1000],
      [2002],
    ]);
  });
});
