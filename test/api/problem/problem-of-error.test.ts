import { expect } from 'chai';

import type { Job } from '../../../src/api/jobs/job.ts';
import { inWireNames, problemOfToolkitError } from '../../../src/api/jobs/problem-of-toolkit-error.ts';
import { problemOfError } from '../../../src/api/middleware/answer-problems.ts';
import { problemOfRun, ServiceProblem } from '../../../src/api/problem/service-problem.ts';
import {
  CacheMissError,
  ConfigValidationError,
  DataValidationError,
  DependencyError,
  FairnessAssertionError,
  LLMClientError,
  MetricComputationError,
  PipelineExecutionError,
  TrainingError,
  ValueError,
} from '../../../src/exceptions/index.ts';

/** Returns the error of a metric that lacks its data. */
function lacking(argument: string): ValueError {
  return new ValueError('It needs labels.', {
    code: 'missing-argument',
    context: { metric: 'x', missing: argument },
    suggestion: `Name their column (${argument}).`,
  });
}

function unknownColumn(column: string): DataValidationError {
  return new DataValidationError(`There is no column '${column}'.`, { context: { column, columns: ['z'] } });
}

const SECRET = '/srv/secret/spool-7/upload.csv';

describe('problemOfError', () => {
  const kinds = [
    [new DataValidationError('x'), 422],
    [new ConfigValidationError('x'), 422],
    [new ValueError('x'), 422],
    [new MetricComputationError('x'), 422],
    [new DependencyError('x'), 422],
    [new PipelineExecutionError('x'), 422],
    [new TrainingError('x'), 422],
    [new FairnessAssertionError('x'), 422],
    [new CacheMissError('x'), 403],
    [new LLMClientError('x'), 502],
  ] as const;
  for (const [error, status] of kinds) {
    it(`converts a ${error.name} to ${String(status)} with its message, and keeps it as the cause`, () => {
      const problem = problemOfError(error, 'id-1');
      expect([problem.status, problem.cause]).to.deep.equal([status, error]);
      expect(problem.detail).to.match(status === 403 ? /^Live calls are not allowed here/ : /^x$/);
      if (status === 422) expect(problem.suggestion).to.match(/^[A-Z].*\.$/);
    });
  }

  it('returns a problem unchanged', () => {
    const problem = new ServiceProblem(409, { detail: 'x' });
    expect(problemOfError(problem, 'id-1')).to.equal(problem);
  });

  const unknown: readonly (readonly [string, unknown])[] = [
    ['an error', new TypeError(`cannot read ${SECRET}`)],
    ['text', SECRET],
    ['nothing', undefined],
    ['null', null],
    ['an object', { status: 400, message: SECRET }],
    ['an error with the status of an internal error', Object.assign(new Error(SECRET), { status: 500, expose: true })],
    ['an error with an invalid status', Object.assign(new Error(SECRET), { status: NaN, expose: true })],
    [
      'a folder that cannot be written',
      new DataValidationError(`Cannot write '${SECRET}'.`, { context: { path: SECRET, code: 'EACCES' } }),
    ],
  ];
  for (const [title, error] of unknown) {
    it(`converts ${title} to 500 with the ID and no details`, () => {
      const problem = problemOfError(error, 'id-77');
      expect(problem.status).to.equal(500);
      expect(problem.detail).to.include('id-77');
      expect(JSON.stringify(problem)).to.not.include('secret');
    });
  }

  const systemError = (code: string): Error => Object.assign(new Error(`${code}: ${SECRET}`), { code });
  const full: readonly (readonly [string, unknown, string?])[] = [
    ['a full disk', systemError('ENOSPC')],
    ['an exceeded quota', systemError('EDQUOT'), 'the disk quota is used up'],
    ['too many open files', systemError('EMFILE'), 'too many files are open'],
    ['an atomic write', new DataValidationError(`Cannot write '${SECRET}'.`, { context: { path: SECRET, code: 'ENOSPC' } })],
    ['an error of a step', new PipelineExecutionError(`failed at ${SECRET}`, { cause: new DataValidationError('x', { cause: systemError('ENOSPC') }) })],
    ['DuckDB, which gives no code', new DataValidationError(`Cannot write '${SECRET}'.`, { cause: new Error('IO Error: Could not write file: No space left on device') })],
  ]; // prettier-ignore
  for (const [title, error, reason = 'the disk is full'] of full) {
    it(`converts a full disk (${title}) to 503 with Retry-After, and names no folder`, () => {
      const problem = problemOfError(error, 'id-77');
      expect([problem.status, problem.headers['Retry-After']]).to.deep.equal([503, '60']);
      expect(problem.detail).to.equal(`The service has no room left for results: ${reason}.`);
      expect(JSON.stringify(problem)).to.not.include('secret');
      expect(problemOfRun('run-1', error)).to.include({ status: 503, run_id: 'run-1' });
      // As it travels from a thread or the store to the client.
      expect(ServiceProblem.fromJSON(problem.toJSON()).headers).to.deep.equal({ 'Retry-After': '60' });
    });
  }

  it('uses the status of errors of Koa, and their message if it may be exposed', () => {
    const shown = problemOfError(Object.assign(new Error('too big'), { status: 413, expose: true }), 'x');
    const hidden = problemOfError(Object.assign(new Error(SECRET), { status: 413, expose: false }), 'x');
    const odd = problemOfError(Object.assign(new Error('odd'), { status: 418, expose: true }), 'x');
    expect([shown.status, shown.detail]).to.deep.equal([413, 'too big']);
    expect([hidden.status, hidden.detail]).to.deep.equal([413, 'The request is too large.']);
    expect([odd.status, odd.detail]).to.deep.equal([400, 'odd']);
  });

  it('names the invalid field and row with their names on the wire', () => {
    const row = new DataValidationError('sampleWeight must be finite.', {
      context: { argument: 'sampleWeight', index: 3, value: Infinity },
    });
    expect(problemOfError(row, 'x').errors).to.deep.equal([
      { pointer: '/sample_weight/3', detail: 'sample_weight must be finite.' },
    ]);
    const field = new ValueError('no', { context: { parameter: 'ciLevel', value: 2 } });
    expect(problemOfError(field, 'x').errors).to.deep.equal([{ pointer: '/ci_level', detail: 'no' }]);
    const issues = new ConfigValidationError('no', {
      context: {
        problems: [
          { path: ['minGroupSize'], expected: 'at least 1', received: '0', message: 'small' },
          { path: ['a/b', 0, '~'], expected: undefined, received: '1', message: 'odd' },
        ],
      },
    });
    expect(problemOfError(issues, 'x').errors).to.deep.equal([
      { pointer: '/min_group_size', detail: 'min_group_size must be at least 1; got 0.' },
      { pointer: '/a~1b/0/~0', detail: 'a/b: odd.' },
    ]);
    expect(problemOfError(new DataValidationError('whole'), 'x').errors).to.equal(undefined);
  });

  it('takes the row from the context, whatever the message says, and leaves data in quotes as they are', () => {
    const error = new DataValidationError("yPred must hold numbers, but holds 'notANumber' at index 7.", {
      context: { argument: 'yPred', index: 12 },
    });
    const { detail, errors } = problemOfError(error, 'x');
    expect(detail).to.equal("y_pred must hold numbers, but holds 'notANumber' at index 7.");
    expect(errors).to.deep.equal([{ pointer: '/y_pred/12', detail }]);
  });

  it('does not reveal the environment of the service in the problem of rejected calls', () => {
    const error = new CacheMissError('7 answers are missing, and no request was sent: OPENAI_API_KEY is not set.', {
      context: { missing: 7, prompt: 'Should I hire Ann?' },
      suggestion: 'Set OPENAI_API_KEY in the environment, or use the provider local.',
    });
    const problem = problemOfError(error, 'x');
    expect(JSON.stringify(problem)).to.not.include('OPENAI');
    expect(problem.detail).to.equal(
      'Live calls are not allowed here, and 7 answers are missing. The first missing answer is to the prompt "Should I hire Ann?".',
    );
  });

  const table = {
    kind: 'validate-table',
    path: '/spool/rows.csv',
    format: 'csv',
    options: { y_pred: 'ok', sensitive: ['sex,race', 'a\\,b'] },
  } as const;
  const pointed: readonly (readonly [string, Error, Job | Job['kind'], string, RegExp])[] = [
    [
      'an unknown metric',
      new ValueError('There is no metric x.', { context: { metric: 'x' } }),
      'validate-rows',
      '/metric',
      /./,
    ],
    ['missing labels', lacking('yTrue'), 'validate-rows', '/y_true', /^Send y_true\.$/],
    ['labels without a column', lacking('yTrue'), 'validate-table', 'y_true', /^Name its column as y_true\.$/],
    ['missing scores', lacking('score'), 'validate-rows', '/y_score', /^Send y_score\.$/],
    ['a column of an intersection', unknownColumn('race'), table, 'sensitive', /./],
    ['a column with a comma in its name', unknownColumn('a,b'), table, 'sensitive', /./],
    ['a column of decisions', unknownColumn('ok'), table, 'y_pred', /./],
    ["a column of a configuration's", unknownColumn('ok'), 'workflow', '/config', /./],
    ['an unreadable file', new DataValidationError('Line 3 is short.'), 'pipeline', '/file', /./],
    [
      'a missing section',
      new ConfigValidationError('no', { context: { key: 'training' } }),
      'workflow',
      '/config/training',
      /./,
    ],
    [
      'a field of a form',
      new ValueError('no', { context: { parameter: 'trainSize' } }),
      'workflow',
      '/train_size',
      /./,
    ],
    [
      'a metric of an evaluation',
      new ValueError('no', { context: { parameter: 'metric' } }),
      'llm-eval',
      '/metric',
      /./,
    ],
    [
      'a step',
      new PipelineExecutionError('no', { context: { name: 'weigh', index: 1 } }),
      'pipeline',
      '/config/pipeline/1',
      /./,
    ],
  ];
  for (const [title, error, work, pointer, suggestion] of pointed) {
    it(`points to the field: ${title}`, () => {
      const problem = problemOfToolkitError(error, work);
      expect(problem?.errors?.map((found) => found.pointer)).to.deep.equal([pointer]);
      expect(problem?.suggestion).to.match(suggestion);
    });
  }

  const translated: readonly (readonly [string, Job['kind'], string])[] = [
    ['Name the label (positiveLabel).', 'validate-rows', 'Name the label (positive_label).'],
    ['Hold more out (trainSize).', 'workflow', 'Hold more out (train_size).'],
    ["profile names 'a --b'.", 'pipeline', "profile names 'a --b'."],
    ['Add training, or use applyPipeline.', 'workflow', 'Add training, or use POST /pipeline.'],
    ["the model's minGroupSize", 'workflow', "the model's min_group_size"],
    ["Column 'minGroupSize' -- twice -- is a-b", 'workflow', "Column 'minGroupSize' -- twice -- is a-b"],
  ];
  for (const [text, kind, wire] of translated) {
    it(`uses the names of a request: ${text}`, () => {
      expect(inWireNames(text, kind)).to.equal(wire);
    });
  }

  it('accepts fields that already have the names of a client', () => {
    const fields = [{ pointer: '/ci_level', detail: 'must be below 1' }];
    expect(problemOfError(new ConfigValidationError('no', { context: { fields } }), 'x').errors).to.deep.equal(fields);
  });

  it('names each problem of a configuration with its key and line, up to fifty', () => {
    const found = {
      file: 'config.yml',
      line: 7,
      column: 3,
      key: 'pipeline[0].params.max_weight',
      message: 'must be > 0',
      suggestion: 'Try 1.',
    };
    const error = new ConfigValidationError('faults', { context: { faults: Array.from({ length: 60 }, () => found) } });
    const { errors = [] } = problemOfError(error, 'x');
    expect(errors).to.have.length(50);
    expect(errors[0]).to.deep.equal({
      pointer: '/config/pipeline/0/params/max_weight',
      detail: 'config.yml:7:3: must be > 0. Try 1.',
    });
  });
});
