import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { expect } from 'chai';
import { parse } from 'yaml';

import {
  buildImage,
  type Container,
  containerProblem,
  hasFile,
  type Image,
  startContainer,
} from '../helpers/container.ts';
import { projectRoot } from '../helpers/project-files.ts';

const KEY = 'a-key-for-the-image-0123456789';

/** Asks the service in the container for a path, with its key, and prints the status and the body. */
const ASK = `
const [url, body] = process.argv.slice(1);
const headers = { authorization: 'Bearer ${KEY}', 'content-type': 'application/json' };
const answer = await fetch('http://127.0.0.1:8000' + url, body === undefined ? { headers } : { method: 'POST', headers, body });
console.log(answer.status, await answer.text());
`;

describe('the container image @slow', function () {
  this.timeout(900_000);
  const problem = containerProblem();
  if (problem !== undefined) {
    it(`is not built, because ${problem}`, function () {
      this.skip();
    });
    return;
  }

  let folder = '';
  let image: Image;
  const containers = new Set<Container>();

  before(async () => {
    // Not in the temporary folder, which is empty in a container.
    folder = mkdtempSync('/var/tmp/evenhand-image-');
    const context = path.join(folder, 'context');
    const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: projectRoot, encoding: 'utf8' }); // prettier-ignore
    for (const name of files.split('\0').filter((file) => file !== '')) {
      cpSync(path.join(projectRoot, name), path.join(context, name));
    }
    // The first stage is `npm ci`, `npm run build` and `npm pack`. This checkout has just been built in the same way.
    const packed = path.join(folder, 'build/packed');
    mkdirSync(packed, { recursive: true });
    execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', packed], { cwd: projectRoot, stdio: 'ignore' }); // prettier-ignore
    const built = process.env['EVENHAND_FULL_IMAGE'] === '1' ? {} : { build: path.join(folder, 'build') };
    const start = performance.now();
    image = await buildImage(path.join(projectRoot, 'Dockerfile'), { context, folder, built });
    console.log(`      Built in ${((performance.now() - start) / 1000).toFixed(0)} s`);
  });

  afterEach(async () => {
    for (const { kill, ended } of containers) {
      kill();
      await ended;
    }
    containers.clear();
  });

  after(() => {
    if (folder !== '') rmSync(folder, { recursive: true, force: true });
  });

  let started = 0;
  function start(command?: readonly string[], options: Partial<Parameters<typeof startContainer>[2]> = {}): Container {
    const container = startContainer(image, command && [...image.entrypoint, ...command], {
      scratch: path.join(folder, `run-${String(++started)}`),
      ...options,
    });
    containers.add(container);
    return container;
  }

  async function untilHealthy({ exec, ended }: Container): Promise<void> {
    let end: unknown;
    void ended.then((found) => (end = found));
    for (let tries = 0; tries < 100; tries++) {
      if ((await exec(image.healthCheck)).code === 0) return;
      if (end !== undefined) throw new Error(JSON.stringify(end));
      await pause(200);
    }
    throw new Error('The health check did not pass within 20 seconds.');
  }

  it('has the package with the packages of the queue, and nothing of the development', () => {
    for (const file of ['/app/probe.mjs', '/app/evenhand/dist/cli/main.js', '/app/evenhand/config/adult.yml', '/app/node_modules/bullmq/package.json', '/app/node_modules/ioredis/package.json']) expect(hasFile(image, file), file).to.equal(true); // prettier-ignore
    for (const file of ['/app/evenhand/src', '/app/evenhand/test', '/app/evenhand/node_modules/typescript', '/app/evenhand/node_modules/mocha', '/app/evenhand/.git', '/packed', '/build']) expect(hasFile(image, file), file).to.equal(false); // prettier-ignore
    const files = readdirSync(path.join(image.layer, 'app'), { recursive: true, withFileTypes: true });
    expect(files.filter(({ name }) => name.endsWith('.map'))).to.deep.equal([]);
    const bytes = files
      .filter((file) => file.isFile())
      .reduce((sum, { parentPath, name }) => sum + statSync(path.join(parentPath, name)).size, 0);
    console.log(`      ${String(files.length)} files, ${(bytes / 2 ** 20).toFixed(0)} MiB above the base image`);
    expect(bytes / 2 ** 20).to.be.below(400);
  });

  it('starts the service as a user without rights, on a file system that cannot be written', async () => {
    const begin = performance.now();
    const container = start(undefined, { env: { EVENHAND_API_KEYS: KEY } });
    await untilHealthy(container);
    console.log(`      Healthy after ${((performance.now() - begin) / 1000).toFixed(1)} s`);
    const { log: identity } = await container.exec(['/usr/bin/id', '-u']);
    expect(identity.trim()).to.equal('1000');
    for (const file of ['/app/evenhand/x', '/app/x', '/data/x', '/etc/x', '/x']) {
      const { code, log } = await container.exec(['/usr/bin/touch', file]);
      expect(code, file).to.equal(1);
      expect(log).to.match(/Read-only file system|Permission denied/);
    }
    expect((await container.exec(['/usr/bin/touch', '/tmp/x'])).code).to.equal(0);

    const ask = (...args: string[]) => container.exec(['node', '--input-type=module', '-e', ASK, ...args]);
    const rows = Array.from({ length: 20_000 }, (_, row) => row);
    const body = { y_pred: rows.map((row) => Number(row % 3 === 0)), sensitive: rows.map((row) => (row % 2 === 0 ? 'a' : 'b')), with_p_value: true, threshold: 0.1 }; // prettier-ignore
    const { log: small } = await ask('/validate', JSON.stringify({ ...body, y_pred: [1, 0], sensitive: ['a', 'b'], min_group_size: 1 })); // prettier-ignore
    expect(small).to.match(/^200 .*"passed":false/);
    // Enough rows for a thread, which loads further parts of the package.
    const { log: many } = await ask('/validate', JSON.stringify({ ...body, y_pred: body.y_pred.slice(0, 9000), sensitive: body.sensitive.slice(0, 9000) })); // prettier-ignore
    expect(many).to.match(/^200 .*"passed":true/);
    // Uploads need a folder that can be written.
    const csv = `y,g\n${rows
      .map((row) => `${String(row % 2)},${row % 4 < 2 ? 'a' : 'b'}`)
      .slice(0, 5000)
      .join('\n')}\n`;
    const upload = `const answer = await fetch('http://127.0.0.1:8000/validate?y_pred=y&sensitive=g', { method: 'POST', headers: { authorization: 'Bearer ${KEY}', 'content-type': 'text/csv' }, body: process.argv[1] }); console.log(answer.status);`; // prettier-ignore
    expect((await container.exec(['node', '--input-type=module', '-e', upload, csv])).log.trim()).to.equal('200');
    for (const page of ['/docs', '/openapi.json', '/metrics']) expect((await ask(page)).log).to.match(/^200 /);

    // The probe reads the key from the environment.
    expect(await container.exec(['node', '/app/probe.mjs', '/ready'])).to.deep.equal({ code: 0, log: '' });
    const absent = await container.exec(['node', '/app/probe.mjs', '/absent']);
    expect(absent.code).to.equal(1);
    expect(absent.log).to.include('/absent answered with 404');

    // As `docker stop` does.
    container.child.kill('SIGTERM');
    expect((await container.ended).code).to.equal(0);
  });

  it('fails the health check if there is no service, and refuses to start without keys', async () => {
    const { code, log } = await start(undefined).ended;
    expect(code).to.equal(2);
    expect(log).to.include('EVENHAND_API_KEYS');
    const idle = startContainer(image, ['/usr/bin/sleep', '30'], { scratch: path.join(folder, 'idle') });
    containers.add(idle);
    let check = await idle.exec(image.healthCheck);
    // The namespaces take a moment.
    for (let tries = 0; tries < 20 && !check.log.includes('ECONNREFUSED'); tries++) {
      await pause(100);
      check = await idle.exec(image.healthCheck);
    }
    expect(check.code).to.equal(1);
    expect(check.log).to.include('ECONNREFUSED');
  });

  it('has the packages of a worker, and reports a Redis that does not answer', async () => {
    const { code, log } = await start(['worker', '--redis', 'redis://127.0.0.1:1']).ended;
    expect(code).to.equal(2);
    expect(log).to.include('127.0.0.1:1 does not answer').and.not.include('npm install');
  });

  it('runs the command line on files of the caller', async () => {
    const data = path.join(folder, 'data');
    mkdirSync(data);
    chmodSync(data, 0o777);
    writeFileSync(path.join(data, 'x.csv'), `y,g\n${'1,a\n0,a\n1,b\n1,b\n'.repeat(50)}`);
    const args = ['--csv', 'x.csv', '--y-pred', 'y', '--sensitive', 'g', '--metric', 'demographic_parity_difference<=0.1', '--out', 'report.html', '--out-plot', 'groups.png']; // prettier-ignore
    const { code, log } = await start(['validate', ...args], { volume: [data, '/data'] }).ended;
    expect(code, log).to.equal(1);
    expect(log).to.include('demographic_parity_difference 0.5000 > 0.1');
    expect(readdirSync(data).sort()).to.deep.equal(['groups.png', 'report.html', 'x.csv']);
  });

  it('runs service, worker and Redis with the commands of compose.yaml', async function () {
    if (spawnSync('redis-server', ['--version'], { timeout: 10_000 }).status !== 0) {
      if (process.env['EVENHAND_REQUIRE_ENGINES'] === '1') throw new Error('redis-server is not on the PATH');
      console.log('      Not run, because redis-server is not on the PATH');
      this.skip();
    }
    interface Service {
      readonly command: readonly string[];
      readonly environment: Readonly<Record<string, string>>;
    }
    const { services } = parse(readFileSync(path.join(projectRoot, 'compose.yaml'), 'utf8'), { merge: true }) as {
      services: Record<'service' | 'worker' | 'redis', Service>;
    };
    // All three share the network of one container, in which each name of a service is this machine.
    mkdirSync(path.join(image.layer, 'etc'), { recursive: true });
    cpSync('/etc/hosts', path.join(image.layer, 'etc/hosts'));
    appendFileSync(path.join(image.layer, 'etc/hosts'), '127.0.0.1 redis\n');
    const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
    const values = { EVENHAND_KEY: KEY, REDIS_PASSWORD: 'a-password' };
    const programs = (['redis', 'service', 'worker'] as const).map((name) => {
      const { command, environment } = services[name];
      const env = Object.entries(environment).map(([key, value]) => {
        const filled = value.replace(/\$\{(\w+):\?.*\}/, (_, variable: keyof typeof values) => values[variable]);
        return `${key}=${quoted(filled)}`;
      });
      const words = name === 'redis' ? command.map((word) => word.replaceAll('$$', '$')) : [...image.entrypoint, ...command]; // prettier-ignore
      return `env ${env.join(' ')} ${words.map(quoted).join(' ')} &`;
    });
    const data = path.join(folder, 'redis');
    mkdirSync(data);
    chmodSync(data, 0o777);
    const wait = 'for try in $(seq 100); do REDISCLI_AUTH=a-password redis-cli ping | grep -q PONG && break; sleep 0.1; done'; // prettier-ignore
    const script = [programs[0], wait, ...programs.slice(1), 'wait'].join('\n');
    const container = startContainer(image, ['/bin/sh', '-c', script], {
      scratch: path.join(folder, 'compose'),
      volume: [data, '/data'],
    });
    containers.add(container);
    await untilHealthy(container);

    const run = `
const headers = { authorization: 'Bearer ${KEY}' };
const body = new FormData();
body.set('file', new Blob(['y,g\\n' + '1,a\\n0,a\\n1,b\\n1,b\\n'.repeat(50)]), 'x.csv');
body.set('config', 'sensitive: [g]');
const accepted = await fetch('http://127.0.0.1:8000/pipeline', { method: 'POST', headers: { ...headers, prefer: 'respond-async' }, body });
if (accepted.status !== 202) throw new Error(accepted.status + await accepted.text());
const url = 'http://127.0.0.1:8000' + accepted.headers.get('location');
let run = {};
for (let tries = 0; tries < 200 && run.status !== 'succeeded' && run.status !== 'failed'; tries++) {
  await new Promise((resolve) => setTimeout(resolve, 100));
  run = await (await fetch(url, { headers })).json();
}
const metrics = await (await fetch('http://127.0.0.1:8000/metrics', { headers })).text();
console.log(run.status, metrics.match(/^evenhand_runs.*$/gm).join(' '));
`;
    const { log } = await container.exec(['node', '--input-type=module', '-e', run]);
    expect(log).to.match(/^succeeded .*evenhand_runs\{state="kept"\} 1/);
    // Nobody gets in without the password.
    expect((await container.exec(['redis-cli', 'ping'])).log).to.include('NOAUTH');
    expect(readdirSync(data)).to.include('appendonlydir');
  });
});
