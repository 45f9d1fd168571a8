import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import type { ConfigValidationError } from '../../../src/exceptions/index.ts';
import { findConfigFile, loadConfig } from '../../../src/pipeline/config/index.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';

const folder = useTemporaryFolder();
const VARIABLES = ['EVENHAND_CONFIG_PATH', 'EVENHAND_PROFILE', 'HOME', 'USERPROFILE'] as const;

/** Sets variables for one test; undefined removes them. */
function useEnvironment(): (values: Partial<Record<(typeof VARIABLES)[number], string>>) => void {
  const before = Object.fromEntries(VARIABLES.map((name) => [name, process.env[name]]));
  const set = (values: Readonly<Record<string, string | undefined>>): void => {
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
    }
  };
  beforeEach(() => {
    set({ EVENHAND_CONFIG_PATH: undefined, EVENHAND_PROFILE: undefined });
  });
  afterEach(() => {
    set(before);
  });
  return set;
}

function write(name: string, text: string | Uint8Array): string {
  const file = path.join(folder(), name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

async function errorOf(promise: Promise<unknown>): Promise<ConfigValidationError> {
  const error = await promise.then(
    () => new Error('no error was thrown'),
    (cause: unknown) => cause as ConfigValidationError,
  );
  expect(error.name, error.stack).to.equal('ConfigValidationError');
  return error as ConfigValidationError;
}

describe('loadConfig', () => {
  const setEnvironment = useEnvironment();

  it('reads YAML, and JSON, which is YAML', async () => {
    const yaml = await loadConfig(write('a.yml', 'sensitive: [sex]\nalpha: 0.1\n'));
    const json = await loadConfig(write('a.json', '{"sensitive": ["sex"], "alpha": 0.1}'));
    expect(json).to.deep.equal(yaml);
    expect(json.alpha).to.equal(0.1);
  });

  it('searches for a file if none is named', async () => {
    setEnvironment({ EVENHAND_CONFIG_PATH: write('named.yml', 'sensitive: [named]\n') });
    expect((await loadConfig()).sensitive).to.deep.equal(['named']);
  });

  describe('rejects a file that is not a configuration, with the reason', () => {
    const cases: readonly { title: string; make: () => string; message: string }[] = [
      {
        title: 'a missing file',
        make: () => path.join(folder(), 'none.yml'),
        message: 'there is no such file. Check the path.',
      },
      {
        title: 'a path through a file',
        make: () => path.join(write('f', 'x'), 'none.yml'),
        message: 'there is no such file. Check the path.',
      },
      { title: 'a folder', make: () => folder(), message: 'it is a folder. Give the path of a file.' },
      {
        title: 'a file over 1 MiB',
        make: () => write('large.yml', `#${' '.repeat(2 ** 20)}`),
        message: 'it has 1,048,577 bytes, and the maximum is 1,048,576. Check that it is the right file.',
      },
      {
        title: 'bytes that are not UTF-8',
        make: () => write('latin.yml', Buffer.from([0x61, 0xe9, 0x0a])),
        message: 'it is not UTF-8: byte 0xe9 at offset 1. Save or send the text as UTF-8.',
      },
    ];
    for (const { title, make, message } of cases) {
      it(title, async () => {
        const file = make();
        const error = await errorOf(loadConfig(file));
        expect(error.message).to.equal(`${file}: ${message}`);
        expect(error.context['faults']).to.have.lengthOf(1);
      });
    }

    it('an empty file, with its position', async () => {
      const file = write('empty.yml', ' \n');
      expect((await errorOf(loadConfig(file))).message).to.match(/:1:1: the file is empty\. /);
    });

    it('a missing file that the environment names', async () => {
      setEnvironment({ EVENHAND_CONFIG_PATH: '/nowhere/config.yml' });
      expect((await errorOf(loadConfig())).message).to.equal(
        '/nowhere/config.yml: there is no such file. Check the path.',
      );
    });
  });

  it('reads a file of exactly 1 MiB', async () => {
    const text = 'sensitive: [sex]\n#';
    const config = await loadConfig(write('full.yml', text + ' '.repeat(2 ** 20 - text.length)));
    expect(config.sensitive).to.deep.equal(['sex']);
  });
});

describe('profiles', () => {
  const setEnvironment = useEnvironment();
  const SEVERAL =
    'sensitive: [sex]\nalpha: 0.05\nfeatures: [a, b]\nprofiles:\n  dev: { alpha: 0.2 }\n  prod: { alpha: 0.01, steps: [] }\n';
  const ONLY = 'sensitive: [sex]\nprofiles:\n  dev: { alpha: 0.2 }\n';
  const alphaOf = async (text: string, profile?: string | null): Promise<number> =>
    (await loadConfig(write('profiles.yml', text), { profile })).alpha;

  it('are chosen by the argument before the environment', async () => {
    setEnvironment({ EVENHAND_PROFILE: 'dev' });
    expect(await alphaOf(SEVERAL, 'prod')).to.equal(0.01);
  });

  it('are chosen by the environment if there is no argument', async () => {
    setEnvironment({ EVENHAND_PROFILE: 'dev' });
    expect(await alphaOf(SEVERAL)).to.equal(0.2);
    setEnvironment({ EVENHAND_PROFILE: '' });
    expect(await alphaOf(SEVERAL)).to.equal(0.05);
  });

  it('ignore the environment if the argument is null', async () => {
    setEnvironment({ EVENHAND_PROFILE: 'dev' });
    expect(await alphaOf(SEVERAL, null)).to.equal(0.05);
    setEnvironment({ EVENHAND_PROFILE: 'nowhere' });
    expect(await alphaOf(ONLY, null)).to.equal(0.2);
  });

  it('apply the only profile without a request', async () => {
    expect(await alphaOf(ONLY)).to.equal(0.2);
  });

  it('apply none of several profiles if none is chosen', async () => {
    expect(await alphaOf(SEVERAL)).to.equal(0.05);
  });

  it('replace complete keys, whatever their names, and keep the others', async () => {
    const text =
      'sensitive: [sex]\nfeatures: [a]\nsteps: [{ kind: ProxyDropper }]\nbenchmarks: { sex: { f: 1 } }\n' +
      'profiles:\n  p: { pipeline: [{ transformer: CorrelationRemover }], benchmarks: { sex: { m: 1 } } }\n';
    const config = await loadConfig(write('whole.yml', text));
    expect(config.pipeline.map(({ transformer }) => transformer)).to.deep.equal(['CorrelationRemover']);
    expect(config.benchmarks).to.deep.equal({ sex: { m: 1 } });
    expect(config.features).to.deep.equal(['a']);
  });

  it('may supply keys that the top level lacks', async () => {
    const text = 'alpha: 0.1\nprofiles:\n  a: { sensitive: [sex] }\n  b: { sensitive: [race] }\n';
    expect((await loadConfig(write('lacks.yml', text), { profile: 'b' })).sensitive).to.deep.equal(['race']);
    expect((await errorOf(loadConfig(write('lacks.yml', text)))).message).to.match(/:1:1: sensitive: is missing/);
  });

  it('may have the name __proto__', async () => {
    const text = 'sensitive: [sex]\nprofiles:\n  __proto__: { alpha: 0.2 }\n  other: {}\n';
    expect(await alphaOf(text, '__proto__')).to.equal(0.2);
    expect((await errorOf(loadConfig(write('p.yml', text), { profile: 'constructor' }))).message).to.include(
      'constructor',
    );
  });

  for (const { title, text, profile, at, says } of [
    {
      title: 'reports a missing profile with similar names',
      text: SEVERAL,
      profile: 'prd',
      at: '4:1',
      says: "the profile option requests the profile 'prd', which does not exist. Did you mean 'prod'?",
    },
    {
      title: 'lists the names if none is similar',
      text: SEVERAL,
      profile: 'experiment',
      at: '4:1',
      says: "the profile option requests the profile 'experiment', which does not exist. The profiles are 'dev' and 'prod'.",
    },
    {
      title: 'reports a request without any profiles',
      text: 'sensitive: [sex]\n',
      profile: 'dev',
      at: '1:1',
      says: "the profile option requests the profile 'dev', which does not exist. The configuration has no profiles: do not request one.",
    },
  ]) {
    it(title, async () => {
      const file = write('absent.yml', text);
      expect((await errorOf(loadConfig(file, { profile }))).message).to.equal(`${file}:${at}: ${says}`);
    });
  }

  it('names the environment variable if it requests a missing profile', async () => {
    setEnvironment({ EVENHAND_PROFILE: 'nope' });
    expect((await errorOf(loadConfig(write('env.yml', ONLY)))).message).to.match(
      /:2:1: EVENHAND_PROFILE requests the profile 'nope', which does not exist\. Did you mean|The profiles are 'dev'\.$/,
    );
  });
});

describe('findConfigFile', () => {
  const setEnvironment = useEnvironment();

  it('finds the nearest file in the folder and above', () => {
    const outer = write('tree/.evenhand/config.yml', 'sensitive: [outer]\n');
    const inner = write('tree/a/b/.evenhand/config.yml', 'sensitive: [inner]\n');
    mkdirSync(path.join(folder(), 'tree/a/b/c'), { recursive: true });
    setEnvironment({ HOME: path.join(folder(), 'nobody') });
    expect(findConfigFile(path.join(folder(), 'tree/a/b/c'))).to.equal(inner);
    expect(findConfigFile(path.join(folder(), 'tree/a'))).to.equal(outer);
    expect(findConfigFile(path.join(folder(), 'tree'))).to.equal(outer);
  });

  it('uses the home folder last', () => {
    const home = write('home/.evenhand/config.yml', 'sensitive: [home]\n');
    mkdirSync(path.join(folder(), 'elsewhere'), { recursive: true });
    setEnvironment({ HOME: path.join(folder(), 'home'), USERPROFILE: path.join(folder(), 'home') });
    expect(findConfigFile(path.join(folder(), 'elsewhere'))).to.equal(home);
  });

  it('uses EVENHAND_CONFIG_PATH first, even if the file does not exist', () => {
    setEnvironment({ EVENHAND_CONFIG_PATH: 'here.yml' });
    expect(findConfigFile(folder())).to.equal('here.yml');
  });

  it('returns undefined if there is none, and loadConfig reports where it searched', async () => {
    setEnvironment({ HOME: path.join(folder(), 'nobody'), USERPROFILE: path.join(folder(), 'nobody') });
    mkdirSync(path.join(folder(), 'empty'), { recursive: true });
    expect(findConfigFile(path.join(folder(), 'empty'))).to.equal(undefined);
    const before = process.cwd();
    process.chdir(path.join(folder(), 'empty'));
    try {
      expect(realpathSync('.')).to.equal(realpathSync(path.join(folder(), 'empty')));
      expect((await errorOf(loadConfig())).message).to.equal(
        'no configuration file was found: there is no .evenhand/config.yml in this folder or above it. Specify a file with --config or EVENHAND_CONFIG_PATH.',
      );
    } finally {
      process.chdir(before);
    }
  });
});
