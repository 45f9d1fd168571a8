import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';
import { parse, parseAllDocuments } from 'yaml';

import { endServices, startService } from '../api/serve/service-process.ts';
import { lintDockerfile, parseDockerfile, stagesOf } from '../helpers/dockerfile.ts';
import { projectRoot } from '../helpers/project-files.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';
import { useService } from '../helpers/service.ts';

const folder = useTemporaryFolder();

const read = (name: string): string => readFileSync(path.join(projectRoot, name), 'utf8');

const { version } = JSON.parse(read('package.json')) as { version: string };

/** The value at a path of a parsed document; undefined if there is none. */
function at(value: unknown, ...keys: readonly (string | number)[]): unknown {
  return keys.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null ? (inner as Record<string | number, unknown>)[key] : undefined,
    value,
  );
}

function listAt(value: unknown, ...keys: readonly (string | number)[]): readonly unknown[] {
  const found = at(value, ...keys);
  return Array.isArray(found) ? found : [];
}

/** The words of `evenhand serve` and `evenhand worker` in a manifest, checked by the command line itself. */
function expectCommand(args: readonly unknown[]): void {
  const [command = ''] = args.map(String);
  expect(['serve', 'worker']).to.include(command);
  const help = spawnSync(process.execPath, [path.join(projectRoot, 'dist/cli/main.js'), command, '--help'], {
    encoding: 'utf8',
    timeout: 60_000,
  }).stdout;
  for (const option of args.map(String).filter((word) => word.startsWith('--'))) {
    expect(help, `${command} ${option}`).to.match(new RegExp(`^\\s+${option}\\b`, 'm'));
  }
}

/** Runs a linter of EVENHAND_PYTHON, if it is installed there. Otherwise the test is skipped with the reason. */
function runLinter(test: Mocha.Context, name: string, args: readonly string[]): string {
  const python = process.env['EVENHAND_PYTHON'];
  const program = path.join(path.dirname(python ?? ''), name);
  if (python === undefined || !existsSync(program)) {
    const reason = `${name} is not beside the Python in EVENHAND_PYTHON`;
    if (process.env['EVENHAND_REQUIRE_LINTERS'] === '1') throw new Error(reason);
    console.log(`      Not checked by ${name}, because ${reason}`);
    test.skip();
  }
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: projectRoot, encoding: 'utf8', timeout: 60_000 });
  expect(status, stdout + stderr).to.equal(0);
  return stdout + stderr;
}

describe('the Dockerfile', () => {
  const text = read('Dockerfile');
  const instructions = parseDockerfile(text);
  const stages = stagesOf(instructions);

  it('follows the rules', () => {
    expect(lintDockerfile(text)).to.deep.equal([]);
  });

  const mutations: [what: string, from: RegExp, to: string, problem: RegExp][] = [
    ['an image without a version', /FROM node:\S+ AS build/, 'FROM node AS build', /DL3006/],
    ['an image of a moving version', /^FROM node:\S+$/m, 'FROM node:24-slim', /DL3006/],
    ['the tag latest', /^FROM node:\S+$/m, 'FROM node:latest', /DL3006/],
    ['no user', /^USER .*$/m, '', /DL3002/],
    ['root', /^USER .*$/m, 'USER root', /DL3002/],
    ['user 0', /^USER .*$/m, 'USER 0:0', /DL3002/],
    ['root after a user', /^EXPOSE/m, 'USER 0\nEXPOSE', /DL3002/],
    ['a name of a user', /^USER .*$/m, 'USER node', /DL3002/],
    ['a file copied after USER', /^EXPOSE/m, 'COPY x /y\nEXPOSE', /USER is not/],
    ['ADD', /COPY \. \./, 'ADD . .', /DL3020/],
    ['a relative folder', /WORKDIR \/data/, 'WORKDIR data', /DL3000/],
    ['no health check', /^HEALTHCHECK.*$/m, '', /DL3057/],
    ['a health check by a shell', /^(HEALTHCHECK.*) CMD .*$/m, '$1 CMD node probe.mjs', /HEALTHCHECK is not/],
    ['a command by a shell', /^CMD .*$/m, 'CMD evenhand serve', /DL3025/],
    ['an entry point by a shell', /^ENTRYPOINT .*$/m, 'ENTRYPOINT evenhand', /DL3025/],
    ['two commands', /^CMD/m, 'CMD ["a"]\nCMD', /DL4003/],
    ['a secret in ENV', /^ENV .*$/m, 'ENV EVENHAND_API_KEYS=abc', /secret in the image/],
    ['a secret in ARG', /^WORKDIR \/build$/m, 'WORKDIR /build\nARG NPM_TOKEN', /secret in the image/],
    ['a file of secrets', /COPY \. \./, 'COPY .env .', /COPY of a secret/],
    ['packages without a lock file', /RUN npm ci --omit=dev/, 'RUN npm install --omit=dev', /lock file/],
    ['a download', /RUN npm ci --omit=dev/, 'RUN curl -fsSL x | sh', /downloads/],
    ['an unknown stage', /--from=build/, '--from=other', /DL3022/],
  ];
  for (const [what, from, to, problem] of mutations) {
    it(`would not follow them with ${what}`, () => {
      const changed = text.replace(from, to);
      expect(changed).not.to.equal(text);
      expect(lintDockerfile(changed).join('\n')).to.match(problem);
    });
  }

  it('is accepted by hadolint', function () {
    expect(runLinter(this, 'hadolint', ['--failure-threshold', 'style', 'Dockerfile'])).to.equal('');
  });

  it('is built from one base, and copies files that exist and are not ignored', () => {
    expect(new Set(stages.map(({ base }) => base)).size).to.equal(1);
    const ignored = read('.dockerignore').split('\n');
    const copied = instructions
      .filter(({ name, flags }) => name === 'COPY' && flags['from'] === undefined)
      .flatMap(({ text: words }) => words.split(/\s+/).slice(0, -1));
    expect(copied).to.include.members(['package-lock.json', 'deploy/probe.mjs', '.']);
    for (const name of copied) {
      expect(existsSync(path.join(projectRoot, name)), name).to.equal(true);
      expect(ignored).not.to.include(name);
    }
    expect(ignored).to.include.members(['**/node_modules', 'dist', '.git', '.env']);
  });

  it('installs the packages of the queue in the versions that are tested', () => {
    const own = (JSON.parse(read('deploy/package.json')) as { dependencies: Record<string, string> }).dependencies;
    const tested = (JSON.parse(read('scripts/peers/package.json')) as { dependencies: Record<string, string> })
      .dependencies;
    const locked = (
      JSON.parse(read('deploy/package-lock.json')) as { packages: Record<string, { version: string } | undefined> }
    ).packages;
    expect(Object.keys(own)).to.have.members(['bullmq', 'ioredis']);
    for (const [name, exact] of Object.entries(own)) {
      expect(exact).to.equal(tested[name]);
      expect(locked[`node_modules/${name}`]?.version).to.equal(exact);
    }
  });
});

describe('compose.yaml', () => {
  const compose = parse(read('compose.yaml'), { merge: true }) as unknown;
  const services = at(compose, 'services') as Record<string, unknown>;
  const image = parseDockerfile(read('Dockerfile'));

  it('has the service, a worker, Redis and Prometheus', () => {
    expect(Object.keys(services)).to.have.members(['service', 'worker', 'redis', 'prometheus']);
    expectCommand(listAt(services['service'], 'command'));
    expectCommand(listAt(services['worker'], 'command'));
    expect(at(services['service'], 'image')).to.equal(`evenhand:${version}`);
  });

  for (const name of ['service', 'worker', 'redis', 'prometheus']) {
    it(`${name} has few rights, limits, a health check and a fixed version`, () => {
      const service = services[name];
      expect(at(service, 'read_only')).to.equal(true);
      expect(listAt(service, 'cap_drop')).to.deep.equal(['ALL']);
      expect(listAt(service, 'security_opt')).to.include('no-new-privileges:true');
      expect(at(service, 'privileged')).to.equal(undefined);
      // The user of the service and the worker is that of the image.
      if (name === 'redis' || name === 'prometheus') expect(at(service, 'user')).to.match(/^[1-9]\d*:[1-9]\d*$/);
      expect(String(at(service, 'image'))).to.match(/:v?\d+\.\d+\.\d+/);
      for (const limit of ['cpus', 'memory', 'pids']) {
        expect(at(service, 'deploy', 'resources', 'limits', limit), limit).not.to.equal(undefined);
      }
      if (name === 'worker') expect(at(service, 'healthcheck', 'disable')).to.equal(true);
      else if (name !== 'service') expect(listAt(service, 'healthcheck', 'test')[0]).to.match(/^CMD/);
      for (const port of listAt(service, 'ports')) expect(port).to.match(/^127\.0\.0\.1:/);
    });
  }

  it('has the ports, addresses and times of the image and of the commands', () => {
    const command = listAt(services['service'], 'command').map(String);
    const port = command[command.indexOf('--port') + 1] ?? '';
    expect(image.find(({ name }) => name === 'EXPOSE')?.text).to.equal(port);
    expect(listAt(services['service'], 'ports')).to.deep.equal([`127.0.0.1:${port}:${port}`]);
    for (const name of ['service', 'worker']) {
      expect(listAt(services[name], 'command')).to.include('redis://redis:6379');
      expect(listAt(services[name], 'networks')).to.include('back');
      // The default of --drain-seconds is 30.
      expect(parseInt(String(at(services[name], 'stop_grace_period')))).to.be.above(30);
    }
    expect(at(compose, 'networks', 'back', 'internal')).to.equal(true);
    expect(listAt(services['redis'], 'networks')).to.deep.equal(['back']);
  });

  it('has no secrets, and asks for the missing ones', () => {
    const values = Object.values(services).flatMap((service) =>
      Object.entries((at(service, 'environment') ?? {}) as Record<string, string>),
    );
    const secrets = values.filter(([name]) => /KEY|PASSWORD|AUTH/.test(name));
    expect(secrets).to.have.length(5);
    for (const [name, value] of secrets) expect(value, name).to.match(/^\$\{(?:EVENHAND_KEY|REDIS_PASSWORD):\?.+\}$/);
  });

  it('follows the schema of Compose', function () {
    runLinter(this, 'check-jsonschema', ['--builtin-schema', 'vendor.compose-spec', 'compose.yaml']);
  });
});

describe('deploy/prometheus.yml', () => {
  const service = useService({ keys: ['a-key-for-prometheus-1'] });
  const prometheus = parse(read('deploy/prometheus.yml')) as unknown;
  const [job] = listAt(prometheus, 'scrape_configs');

  it('reads a route that exists, with a key, at the port of the service', async () => {
    const compose = parse(read('compose.yaml'), { merge: true }) as unknown;
    expect(listAt(job, 'static_configs', 0, 'targets')).to.deep.equal(['service:8000']);
    const url = String(at(job, 'metrics_path'));
    expect((await service.ask({ method: 'GET', url })).statusCode).to.equal(401);
    const scheme = String(at(job, 'authorization', 'type'));
    const answer = await service.ask({ method: 'GET', url, headers: { authorization: `${scheme} a-key-for-prometheus-1` } }); // prettier-ignore
    expect(answer.statusCode).to.equal(200);
    // The file with the key is the one that the container writes.
    const entry = listAt(compose, 'services', 'prometheus', 'entrypoint').map(String).at(-1) ?? '';
    expect(entry).to.include(`> ${String(at(job, 'authorization', 'credentials_file'))};`);
    expect(listAt(compose, 'services', 'prometheus', 'tmpfs')).to.deep.equal(['/tmp']);
  });
});

describe('deploy/probe.mjs', function () {
  this.timeout(60_000);
  const KEY = 'a-key-for-the-probe-0123';
  afterEach(endServices);

  const probe = (env: NodeJS.ProcessEnv, ...args: string[]) =>
    spawnSync(process.execPath, [path.join(projectRoot, 'deploy/probe.mjs'), ...args], { env, timeout: 20_000 });

  for (const keys of ['', KEY, ` ${KEY} , another-key-0123456`, `team-a:${KEY},another-key-0123456`]) {
    it(`asks with the first of the keys '${keys}'`, async () => {
      const service = await startService([], { EVENHAND_API_KEYS: keys });
      const env = { ...process.env, EVENHAND_API_KEYS: keys, EVENHAND_PROBE_PORT: String(service.port) };
      for (const args of [[], ['/health'], ['/ready']]) expect(probe(env, ...args).status, args.join()).to.equal(0);
      const wrong = probe({ ...env, EVENHAND_API_KEYS: 'a-wrong-key-0123456789' }, '/ready');
      expect([wrong.status, wrong.stderr.toString().includes('/ready answered with 401')]).to.deep.equal(
        keys === '' ? [0, false] : [1, true],
      );
    });
  }

  it('asks with the first key of a file', async () => {
    const file = path.join(folder(), 'keys.txt');
    writeFileSync(file, '\nteam-a:a-key-in-a-file-0123\nanother-key-0123456\n');
    const service = await startService([], { EVENHAND_API_KEYS_FILE: file });
    const { EVENHAND_API_KEYS: _, ...others } = process.env;
    const env = { ...others, EVENHAND_API_KEYS_FILE: file, EVENHAND_PROBE_PORT: String(service.port) };
    expect(probe(env, '/ready').status).to.equal(0);
    const without = probe({ ...env, EVENHAND_API_KEYS_FILE: '' }, '/ready');
    expect([without.status, without.stderr.toString().includes('answered with 401')]).to.deep.equal([1, true]);
  });
});

describe('deploy/kubernetes.yaml', () => {
  const KEY = 'a-key-for-kubernetes-1';
  const service = useService({ keys: [KEY] });
  const documents = parseAllDocuments(read('deploy/kubernetes.yaml')).map((document) => document.toJS() as unknown);
  const find = (kind: string, name: string): unknown =>
    documents.find((document) => at(document, 'kind') === kind && at(document, 'metadata', 'name') === name);
  const pods = documents
    .filter((document) => ['Deployment', 'StatefulSet'].includes(String(at(document, 'kind'))))
    .map((document): [string, unknown] => [
      String(at(document, 'metadata', 'name')),
      at(document, 'spec', 'template', 'spec'),
    ]);
  const host = at(find('Deployment', 'evenhand'), 'spec', 'template', 'spec', 'containers', 0);
  const worker = at(find('Deployment', 'evenhand-worker'), 'spec', 'template', 'spec', 'containers', 0);

  it('has the service, the workers, their autoscaler and Redis, in one namespace', () => {
    expect(documents.map((document) => `${String(at(document, 'kind'))} ${String(at(document, 'metadata', 'name'))}`))
      .to.have.members(['Service evenhand', 'Deployment evenhand', 'PodDisruptionBudget evenhand', 'Deployment evenhand-worker', 'HorizontalPodAutoscaler evenhand-worker', 'Service redis', 'StatefulSet redis', 'NetworkPolicy redis']); // prettier-ignore
    expect(new Set(documents.map((document) => at(document, 'metadata', 'namespace')))).to.deep.equal(
      new Set(['evenhand']),
    );
    expect(pods).to.have.length(3);
    expect(documents.some((document) => at(document, 'kind') === 'Secret')).to.equal(false);
  });

  for (const [name, pod] of pods) {
    it(`${name} does not run as root, cannot write to its image, and has requests and limits`, () => {
      expect(at(pod, 'automountServiceAccountToken')).to.equal(false);
      expect(at(pod, 'securityContext', 'runAsNonRoot')).to.equal(true);
      expect(at(pod, 'securityContext', 'runAsUser'))
        .to.be.a('number')
        .above(0);
      expect(at(pod, 'securityContext', 'seccompProfile', 'type')).to.equal('RuntimeDefault');
      expect(at(pod, 'hostNetwork') ?? at(pod, 'hostPID')).to.equal(undefined);
      expect(listAt(pod, 'containers')).to.have.length(1);
      const container = at(pod, 'containers', 0);
      expect(at(container, 'securityContext')).to.deep.equal({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(String(at(container, 'image'))).to.match(/:\d+\.\d+\.\d+/);
      for (const kind of ['requests', 'limits']) {
        for (const resource of ['cpu', 'memory']) {
          expect(at(container, 'resources', kind, resource), `${kind} ${resource}`).to.be.a('string');
        }
      }
      // Folders that the program writes are mounted.
      expect(listAt(container, 'volumeMounts').map((mount) => at(mount, 'mountPath'))).to.deep.equal([
        name === 'redis' ? '/data' : '/tmp',
      ]);
    });

    it(`${name} takes its secrets from the secret "evenhand"`, () => {
      const secrets = listAt(pod, 'containers', 0, 'env').filter((each) =>
        /KEY|PASSWORD|AUTH/.test(String(at(each, 'name'))),
      );
      expect(secrets.length).to.be.above(0);
      for (const secret of secrets) {
        expect(at(secret, 'value')).to.equal(undefined);
        expect(at(secret, 'valueFrom', 'secretKeyRef', 'name')).to.equal('evenhand');
        const key = String(at(secret, 'valueFrom', 'secretKeyRef', 'key'));
        expect(read('deploy/kubernetes.yaml')).to.include(`--from-literal=${key}=`);
      }
    });
  }

  it('runs commands and versions that exist', () => {
    for (const container of [host, worker]) {
      expectCommand(listAt(container, 'args'));
      expect(String(at(container, 'image'))).to.match(new RegExp(`/evenhand:${version.replaceAll('.', '\\.')}$`));
    }
    const drain = 30;
    for (const name of ['evenhand', 'evenhand-worker']) {
      const grace = at(find('Deployment', name), 'spec', 'template', 'spec', 'terminationGracePeriodSeconds');
      expect(grace).to.be.a('number').above(drain);
    }
  });

  it('has ports that match', () => {
    const args = listAt(host, 'args').map(String);
    expect(at(host, 'ports', 0, 'containerPort')).to.equal(Number(args[args.indexOf('--port') + 1]));
    for (const name of ['evenhand', 'redis']) {
      const pod = find(name === 'redis' ? 'StatefulSet' : 'Deployment', name);
      const port = at(find('Service', name), 'spec', 'ports', 0);
      expect(at(port, 'targetPort')).to.equal(at(pod, 'spec', 'template', 'spec', 'containers', 0, 'ports', 0, 'name'));
      // Selectors find the pods.
      const labels = at(pod, 'spec', 'template', 'metadata', 'labels');
      expect(at(find('Service', name), 'spec', 'selector')).to.deep.equal(labels);
      expect(at(pod, 'spec', 'selector', 'matchLabels')).to.deep.equal(labels);
    }
    expect(at(find('PodDisruptionBudget', 'evenhand'), 'spec', 'selector', 'matchLabels')).to.deep.equal({
      app: 'evenhand',
    });
    const redis = `redis://redis:${String(at(find('Service', 'redis'), 'spec', 'ports', 0, 'port'))}`;
    for (const container of [host, worker]) expect(listAt(container, 'args')).to.include(redis);
  });

  it('probes routes that exist: without a key only /health, and /ready by the program of the image', async () => {
    for (const name of ['startupProbe', 'livenessProbe']) {
      const url = String(at(host, name, 'httpGet', 'path'));
      expect(at(host, name, 'httpGet', 'port')).to.equal('http');
      expect((await service.ask({ method: 'GET', url })).statusCode, name).to.equal(200);
    }
    const [node, program, url = ''] = listAt(host, 'readinessProbe', 'exec', 'command').map(String);
    expect([node, program]).to.deep.equal(['node', '/app/probe.mjs']);
    expect(read('Dockerfile')).to.include(`COPY deploy/probe.mjs ${program ?? ''}\n`);
    expect((await service.ask({ method: 'GET', url })).statusCode).to.equal(401);
    const headers = { authorization: `Bearer ${KEY}` };
    expect((await service.ask({ method: 'GET', url, headers })).statusCode).to.equal(200);
  });

  it('scales the workers by a metric that the service has', async () => {
    const scaler = find('HorizontalPodAutoscaler', 'evenhand-worker');
    const target = at(scaler, 'spec', 'scaleTargetRef');
    expect(find(String(at(target, 'kind')), String(at(target, 'name')))).not.to.equal(undefined);
    // If the deployment had a number of replicas, each `kubectl apply` would undo the autoscaler.
    expect(at(find('Deployment', 'evenhand-worker'), 'spec', 'replicas')).to.equal(undefined);
    const metric = at(scaler, 'spec', 'metrics', 0, 'external', 'metric');
    const labels = Object.entries(at(metric, 'selector', 'matchLabels') as Record<string, string>);
    const series = `${String(at(metric, 'name'))}{${labels.map(([name, value]) => `${name}="${value}"`).join()}}`;
    const headers = { authorization: `Bearer ${KEY}` };
    const { payload } = await service.ask({ method: 'GET', url: '/metrics', headers });
    expect(payload.split('\n')).to.include(`${series} 0`);
    expect(at(scaler, 'spec', 'minReplicas')).to.equal(1);
  });

  it('lets only hosts and workers connect to Redis', () => {
    const policy = find('NetworkPolicy', 'redis');
    const labels = at(find('StatefulSet', 'redis'), 'spec', 'template', 'metadata', 'labels');
    expect(at(policy, 'spec', 'podSelector', 'matchLabels')).to.deep.equal(labels);
    const allowed = at(policy, 'spec', 'ingress', 0, 'from', 0, 'podSelector', 'matchExpressions', 0);
    expect(allowed).to.deep.equal({ key: 'app', operator: 'In', values: ['evenhand', 'evenhand-worker'] });
  });

  it('follows the schemas of Kubernetes', function () {
    runLinter(this, 'kubernetes-validate', ['--strict', '--kubernetes-version', '1.27.0', 'deploy/kubernetes.yaml']);
  });
});

describe('action.yml', () => {
  it('follows the schema of GitHub', function () {
    runLinter(this, 'check-jsonschema', ['--builtin-schema', 'vendor.github-actions', 'action.yml']);
  });

  it('is called by a workflow that follows the schema of GitHub', function () {
    runLinter(this, 'check-jsonschema', ['--builtin-schema', 'vendor.github-workflows', 'examples/ci-gate/fairness.yml']); // prettier-ignore
  });
});

describe('the files of .github', () => {
  const schemas = [
    ['vendor.github-workflows', '.github/workflows/ci.yml'],
    ['custom.github-workflows-require-timeout', '.github/workflows/ci.yml'],
    ['vendor.github-issue-config', '.github/ISSUE_TEMPLATE/config.yml'],
    ['vendor.github-issue-forms', '.github/ISSUE_TEMPLATE/bug.yml'],
    ['vendor.github-issue-forms', '.github/ISSUE_TEMPLATE/feature.yml'],
  ] as const;
  for (const [schema, file] of schemas) {
    it(`${file} follows the schema ${schema}`, function () {
      runLinter(this, 'check-jsonschema', ['--builtin-schema', schema, file]);
    });
  }

  it('run the required checks on three versions of Node.js, without rights to write', () => {
    const workflow = parse(readFileSync(path.join(projectRoot, '.github/workflows/ci.yml'), 'utf8')) as {
      readonly permissions: object;
      readonly jobs: { readonly checks: { readonly strategy: { readonly matrix: object }; readonly steps: object[] } };
    };
    expect(workflow.permissions).to.deep.equal({ contents: 'read' });
    expect(workflow.jobs.checks.strategy.matrix).to.deep.equal({ node: [20, 22, 24] });
    expect(workflow.jobs.checks.steps).to.deep.include({ name: 'All required checks', run: '.ci/run' });
  });
});
