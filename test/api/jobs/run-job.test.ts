import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';

import { expect } from 'chai';

import { assertLoadable } from '../../../src/api/jobs/job-config.ts';
import type { Job } from '../../../src/api/jobs/job.ts';
import { problemOfToolkitError } from '../../../src/api/jobs/problem-of-toolkit-error.ts';
import { concealPaths, runJob } from '../../../src/api/jobs/run-job.ts';
import { ServiceProblem } from '../../../src/api/problem/service-problem.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { decisionsCsv, rowsJob, runOptions, spool, WORKFLOW_CONFIG } from './job-files.ts';

describe('runJob with invalid input', function () {
  this.timeout(60_000);
  const folder = useTemporaryFolder();
  const kept: Record<string, string | undefined> = {};
  const VARIABLES = ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'EVENHAND_LLM_ALLOW_LIVE', 'EVENHAND_LLM_BASE_URL'];
  before(() => {
    for (const name of VARIABLES) {
      kept[name] = process.env[name];
      Reflect.deleteProperty(process.env, name);
    }
  });
  after(() => {
    for (const name of VARIABLES) if (kept[name] !== undefined) process.env[name] = kept[name];
  });

  /** Returns the problem that a client would get. */
  async function problemOf(job: Job): Promise<ServiceProblem> {
    const options = runOptions(folder());
    const error: unknown = await runJob(job, options).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    const problem = problemOfToolkitError(error, job.kind);
    expect(problem, String(error)).not.to.equal(undefined);
    return ServiceProblem.fromJSON(concealPaths((problem as ServiceProblem).toJSON(), job, options.folder));
  }

  const llm = (body: object, llmFolder: string | null = null): Job => ({
    kind: 'llm-eval',
    body: JSON.stringify(body),
    llmFolder,
  });
  const upload = (content: string, options: Record<string, string | string[]>, name = 'table.csv'): Job => ({
    kind: 'validate-table',
    path: spool(folder(), name, content),
    format: 'csv',
    options,
  });
  const form = (kind: 'pipeline' | 'workflow', config: string, fields = {}, content = decisionsCsv()): Job => ({
    kind,
    path: spool(folder(), 'upload.csv', content),
    config,
    fields,
  });
  const PROMPTS = { prompt_templates: { raise: 'How do I ask for a raise?' } };
  const RUBRIC = { outcome: { score: { judge: { rubric: 'How good is it?' } } } };
  const LIVE = { provider: 'openai', model: 'gpt-4o-mini', ...PROMPTS };

  const cases: readonly (readonly [
    title: string,
    job: () => Job,
    status: number,
    pointer: string | undefined,
    text: RegExp,
  ])[] = [
    [
      'invalid JSON',
      () => ({ ...rowsJob(folder(), 0), path: spool(folder(), 'body', '{') }) as Job,
      400,
      undefined,
      /JSON/,
    ],
    ['a misspelt field', () => rowsJob(folder(), { y_perd: [1], sensitive: ['a'] }), 422, '/y_perd', /y_pred/],
    [
      'a bad item',
      () => rowsJob(folder(), { y_pred: [1, 0, 7], sensitive: ['a', 'a', 'b'] }),
      422,
      '/y_pred/2',
      /y_pred must be 0 or 1.*7 at index 2/,
    ],
    [
      'too many items',
      () => ({ ...rowsJob(folder(), { y_pred: [1, 0], sensitive: ['a', 'b'] }), maxItems: 1 }) as Job,
      413,
      '/y_pred',
      /2 items/,
    ],
    [
      'an unknown metric',
      () => rowsJob(folder(), { y_pred: [1], sensitive: ['a'], metric: 'odds' }),
      422,
      '/metric',
      /no metric named/,
    ],
    [
      'an unknown parameter',
      () => upload('a,b\n1,x\n', { y_pred: 'a', sensitive: 'b', thresold: '1' }),
      422,
      'thresold',
      /threshold/,
    ],
    [
      'an unknown column',
      () => upload('a,b\n1,x\n', { y_pred: 'c', sensitive: 'b' }),
      422,
      undefined,
      /^The uploaded file has no column 'c'/,
    ],
    [
      'a ragged table',
      () => upload('a,b\n1\n', { y_pred: 'a', sensitive: 'b' }),
      422,
      undefined,
      /Cannot read the uploaded file: line 2/,
    ],
    [
      'lines that are not JSON',
      () => upload('{"a":1}\nx\n', { y_pred: 'a', sensitive: 'b' }, 'table.ndjson'),
      422,
      undefined,
      /the uploaded file: line 2: it is not JSON/,
    ],
    [
      'a configuration with a misspelt key',
      () => form('pipeline', 'sensitve: [sex]\n'),
      422,
      '/config/sensitve',
      /config:1:1: unknown key 'sensitve'/,
    ],
    [
      'a field out of range',
      () => form('workflow', WORKFLOW_CONFIG, { train_size: '2' }),
      422,
      '/train_size',
      /below 1/,
    ],
    [
      'a configuration for other columns',
      () => form('workflow', WORKFLOW_CONFIG, {}, 'x,y\n1,2\n'),
      422,
      '/config/sensitive/0',
      /sex|accepted/,
    ],
    ['a live provider that is not allowed', () => llm(LIVE), 403, undefined, /Live calls are not allowed here/],
    [
      'a base_url that the operator did not set',
      () => llm({ ...LIVE, base_url: 'http://169.254.169.254/v1' }),
      403,
      '/base_url',
      /only at its default address/,
    ],
    [
      'a program, also in a dry run',
      () => llm({ ...PROMPTS, provider: 'command', command: ['touch', '/tmp/x'], dry_run: true }),
      403,
      '/provider',
      /never runs the program/,
    ],
    [
      'a program in YAML',
      () => llm({ config: 'provider: command\ncommand: [touch, /tmp/x]\nprompt_templates: { a: Hello }\n' }),
      403,
      '/provider',
      /never runs the program/,
    ],
    [
      'a program of a target',
      () => llm({ ...PROMPTS, targets: [{ name: 'a' }, { name: 'b', provider: 'command', command: ['touch', '/x'] }] }),
      403,
      '/targets/1/provider',
      /never runs the program/,
    ],
    [
      'an endpoint of a target',
      () =>
        llm({
          ...PROMPTS,
          targets: [{ name: 'a', provider: 'http', http: { url: 'http://10.0.0.1/' } }, { name: 'b' }],
        }),
      403,
      '/targets/0/provider',
      /an address that a configuration chooses/,
    ],
    [
      'an address of a target that the operator did not set',
      () =>
        llm({
          ...PROMPTS,
          targets: [{ name: 'a' }, { name: 'b', provider: 'gemini', model: 'm', base_url: 'http://10.0.0.1' }],
        }),
      403,
      '/targets/1/base_url',
      /only at its default address/,
    ],
    [
      "a judge on the service's own machine that the operator did not set up",
      () => llm({ ...PROMPTS, ...RUBRIC, judge: { provider: 'vllm', model: 'm' } }),
      403,
      '/judge/provider',
      /VLLM_BASE_URL/,
    ],
    [
      'an address of the judge that the operator did not set',
      () =>
        llm({
          ...PROMPTS,
          ...RUBRIC,
          judge: { provider: 'bedrock', model: 'm', base_url: 'https://evil.example.org' },
        }),
      403,
      '/judge/base_url',
      /only at its default address/,
    ],
    [
      'a program as judge',
      () => llm({ ...PROMPTS, ...RUBRIC, judge: { provider: 'command', model: 'm' } }),
      422,
      '/config/judge/provider',
      /cannot be command/,
    ],
    ['permission to run a program', () => llm({ ...PROMPTS, allow_code: true }), 422, '/allow_code', /allow_code/],
    [
      'an endpoint that the configuration chooses',
      () => llm({ ...PROMPTS, provider: 'http', http: { url: 'http://169.254.169.254/latest' } }),
      403,
      '/provider',
      /an address that a configuration chooses/,
    ],
    [
      "a server on the service's own machine that the operator did not set up",
      () => llm({ ...PROMPTS, provider: 'ollama', model: 'm' }),
      403,
      '/provider',
      /OLLAMA_BASE_URL=http:\/\/127\.0\.0\.1:11434/,
    ],
    [
      "a port of the service's own machine",
      () => llm({ ...PROMPTS, provider: 'vllm', model: 'm', base_url: 'http://127.0.0.1:6379/v1' }),
      403,
      '/base_url',
      /only at its default address/,
    ],
    [
      'a host for the credentials of AWS',
      () => llm({ ...PROMPTS, provider: 'bedrock', model: 'm', base_url: 'https://evil.example.org' }),
      403,
      '/base_url',
      /only at its default address/,
    ],
    [
      'a cache folder without an llmFolder',
      () => llm({ ...PROMPTS, cache_dir: '/tmp/x' }),
      403,
      '/cache_dir',
      /no folder/,
    ],
    [
      'a path of answers outside the folder',
      () => llm({ answers_path: '/etc/passwd' }, folder()),
      403,
      '/answers_path',
      /must be a path inside the service's folder/,
    ],
    [
      'a path of prompts without a folder',
      () => llm({ prompts_path: 'prompts.csv' }),
      403,
      '/prompts_path',
      /this service has no folder/,
    ],
    [
      'answers with nested values',
      () => llm({ answers: [{ answer: 'a' }, { answer: { text: 'b' } }] }),
      422,
      '/config/answers/1/answer',
      /answers\[1\]\.answer: must be a text or /,
    ],
    [
      'answers without the column of answers',
      () => llm({ answers: [{ text: 'a' }] }),
      422,
      undefined,
      /answers has no column 'answer'/,
    ],
    [
      'answers of a cluster that is not a column',
      () => llm({ answers: [{ answer: 'a' }], cluster: 'who' }),
      422,
      undefined,
      /answers has no column 'who'/,
    ],
    [
      'an absolute path',
      () => llm({ bbq_path: '/etc/passwd', provider: 'local' }, folder()),
      403,
      '/bbq_path',
      /inside/,
    ],
    [
      'an address for embeddings that the operator did not set',
      () => llm({ ...PROMPTS, embedding: { provider: 'compatible', model: 'm', base_url: 'http://10.0.0.1/v1' } }),
      403,
      '/embedding/base_url',
      /only at its default address/,
    ],
    [
      'the Ollama of the machine of the service',
      () => llm({ ...PROMPTS, embedding: { provider: 'ollama', model: 'm' } }),
      403,
      '/embedding/base_url',
      /only at its default address/,
    ],
    [
      'a benchmark outside the folder',
      () => llm({ provider: 'local', benchmarks: { winobias: ['answers', '../pro_stereotyped_type1.txt'] } }, folder()),
      403,
      '/benchmarks/winobias',
      /inside/,
    ],
    [
      'a benchmark that does not exist',
      () => llm({ provider: 'local', benchmarks: { crows_pairs: 'none.csv' } }, linked()),
      422,
      '/benchmarks/crows_pairs',
      /Got 'none\.csv': there is no such file/,
    ],
    [
      'a path that leaves the folder',
      () => llm({ provider: 'replay', replay_path: '../secret.ndjson', ...PROMPTS }, folder()),
      403,
      '/replay_path',
      /inside/,
    ],
    [
      'a link that leaves the folder',
      () => llm({ provider: 'replay', replay_path: 'link/hosts', ...PROMPTS }, linked()),
      403,
      '/replay_path',
      /inside/,
    ],
    [
      'a broken link as the cache',
      () => llm({ ...PROMPTS, cache_dir: 'nowhere' }, linked()),
      403,
      '/cache_dir',
      /inside/,
    ],
    [
      'a replay without the answers',
      () => llm({ provider: 'replay', replay_path: 'empty.ndjson', ...PROMPTS }, linked()),
      422,
      undefined,
      /empty|answer/i,
    ],
    [
      'a replay_path that does not exist',
      () => llm({ provider: 'replay', replay_path: 'none.ndjson', ...PROMPTS }, linked()),
      422,
      '/replay_path',
      /Got 'none\.ndjson': there is no such file/,
    ],
    [
      'a bbq_path that is a folder',
      () => llm({ provider: 'local', bbq_path: 'answers' }, linked()),
      422,
      '/bbq_path',
      /Got 'answers': it is not a file/,
    ],
    ['a threshold without a metric', () => llm({ ...PROMPTS, threshold: 1 }), 422, '/threshold', /metric/],
    [
      'an unknown metric for an evaluation',
      () => llm({ ...PROMPTS, threshold: 1, metric: 'nothing' }),
      422,
      '/metric',
      /nothing/,
    ],
  ];

  /** Creates a folder with a link out of it, a broken link, and a file without answers. */
  function linked(): string {
    const own = mkdtempSync(`${folder()}/llm-`);
    mkdirSync(`${own}/answers`);
    symlinkSync('/etc', `${own}/link`);
    symlinkSync('/no-such-place/at-all', `${own}/nowhere`);
    const answer = { key: 'k', model: 'm', prompt: 'Another?', repeat: 0, text: 'Yes.', error: null };
    writeFileSync(`${own}/empty.ndjson`, `${JSON.stringify(answer)}\n`);
    return own;
  }

  for (const [title, job, status, pointer, text] of cases) {
    it(`answers ${String(status)} for ${title}, and names no folder`, async () => {
      const problem = await problemOf(job());
      expect(problem.status, problem.detail).to.equal(status);
      expect(`${problem.detail} ${problem.suggestion ?? ''}`).to.match(text);
      expect(problem.errors?.[0]?.pointer).to.equal(pointer);
      expect(JSON.stringify(problem)).not.to.include(folder());
      expect(JSON.stringify(problem)).not.to.include(process.cwd());
    });
  }

  it('plans a dry run of a live provider without a key', async () => {
    const { body, files } = await runJob(llm({ ...LIVE, dry_run: true }), runOptions(folder()));
    expect(JSON.parse(body)).to.include({ request_count: 1, cached_count: 0 });
    expect(files).to.deep.equal(['report.md']);
  });

  it('returns the same counts for NDJSON as for CSV', async () => {
    const lines = decisionsCsv()
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split(','));
    const ndjson = lines.map(([sex, race, accepted]) => JSON.stringify({ sex, race, accepted: Number(accepted) }));
    const options = { y_pred: 'accepted', sensitive: ['sex', 'race'], with_ci: 'true' };
    const [ofLines, ofCsv] = await Promise.all([
      runJob(upload(`${ndjson.join('\n')}\n`, options, 'table.ndjson'), runOptions(folder())),
      runJob(upload(decisionsCsv(), options), runOptions(folder())),
    ]);
    expect(ofLines.body).to.equal(ofCsv.body);
    // 40 of 100 women and 60 of 100 men.
    const { attributes } = JSON.parse(ofCsv.body) as {
      attributes: Record<string, { metrics: Record<string, { value: number }> }>;
    };
    expect(attributes['sex']?.metrics['demographic_parity_difference']?.value).to.be.closeTo(0.2, 1e-12);
  });

  it('rejects a table with too many cells before loading it', async () => {
    const path = spool(folder(), 'upload.csv', decisionsCsv());
    await assertLoadable(path, 1000);
    const error: unknown = await assertLoadable(path, 999).catch((reason: unknown) => reason);
    expect(String(error)).to.match(/200 rows of 5 columns/);
  });

  it('reveals nothing of errors from outside the package', () => {
    expect(problemOfToolkitError(new TypeError('secret'), 'workflow')).to.equal(undefined);
    expect(problemOfToolkitError('text', 'workflow')).to.equal(undefined);
  });
});
