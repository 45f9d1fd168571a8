/** An instruction of a Dockerfile. */
export interface Instruction {
  readonly line: number;
  /** The name in upper case. */
  readonly name: string;
  /** The text after the name, on one line, without flags. */
  readonly text: string;
  /** The flags before the text, such as `--from=build`, by their name. */
  readonly flags: Readonly<Record<string, string>>;
  /** The arguments, if the text is a list in JSON (the exec form). */
  readonly list: readonly string[] | undefined;
}

/** A stage of a Dockerfile: its base, its name, and the instructions after FROM. */
export interface Stage {
  readonly base: string;
  readonly name: string | undefined;
  readonly instructions: readonly Instruction[];
}

/** Reads the instructions of a Dockerfile. Lines that end with a backslash continue, and comments are skipped. */
export function parseDockerfile(file: string): Instruction[] {
  const instructions: Instruction[] = [];
  let [text, start] = ['', 0];
  for (const [index, raw] of file.split('\n').entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    if (text === '') start = index + 1;
    text += line.replace(/\\$/, ' ');
    if (line.endsWith('\\')) continue;
    instructions.push(parseInstruction(text, start));
    text = '';
  }
  return instructions;
}

function parseInstruction(line: string, number: number): Instruction {
  const [, name = '', rest = ''] = /^(\w+)\s*(.*)$/s.exec(line) ?? [];
  const flags: Record<string, string> = {};
  const text = rest.replace(/^(?:--[\w-]+(?:=\S*)?\s+)+/, (given) => {
    for (const [, flag = '', value = ''] of given.matchAll(/--([\w-]+)(?:=(\S*))?/g)) flags[flag] = value;
    return '';
  });
  return { line: number, name: name.toUpperCase(), text, flags, list: listOf(text.replace(/^CMD\s+/i, '')) };
}

function listOf(text: string): readonly string[] | undefined {
  if (!text.startsWith('[')) return undefined;
  const list = JSON.parse(text) as unknown;
  return Array.isArray(list) && list.every((item) => typeof item === 'string') ? list : undefined;
}

/** Returns the stages of a Dockerfile. Instructions before the first FROM are an error of the test. */
export function stagesOf(instructions: readonly Instruction[]): Stage[] {
  const stages: { base: string; name: string | undefined; instructions: Instruction[] }[] = [];
  for (const instruction of instructions) {
    if (instruction.name === 'FROM') {
      const [base = '', , name] = instruction.text.split(/\s+/);
      stages.push({ base, name, instructions: [] });
    } else {
      const stage = stages.at(-1);
      if (stage === undefined) throw new Error(`Line ${String(instruction.line)}: ${instruction.name} before FROM.`);
      stage.instructions.push(instruction);
    }
  }
  return stages;
}

/** Names of variables whose values are secrets. */
const SECRET = /PASSWORD|PASSWD|SECRET|TOKEN|API_?KEYS?|CREDENTIAL|PRIVATE_?KEY/i;

/**
 * Returns the problems of a Dockerfile: rules of hadolint (with its codes, where it has one) and of this project.
 */
export function lintDockerfile(file: string): string[] {
  const all = parseDockerfile(file);
  const stages = stagesOf(all);
  const last = stages.at(-1);
  const own = last?.instructions ?? [];
  const names = new Set(stages.map(({ name }) => name));
  const found: string[] = [];
  const report = (when: boolean, problem: string): void => {
    if (when) found.push(problem);
  };
  for (const { base } of stages) {
    if (names.has(base)) continue;
    report(!/:[^:/]*\d+\.\d+\.\d+|@sha256:[0-9a-f]{64}$/.test(base), `DL3006 ${base} has no exact version`);
  }
  for (const { name, text, list, flags } of all) {
    report(name === 'ADD', 'DL3020 ADD instead of COPY');
    report(name === 'WORKDIR' && !text.startsWith('/'), `DL3000 WORKDIR ${text} is not absolute`);
    report((name === 'CMD' || name === 'ENTRYPOINT') && list === undefined, `DL3025 ${name} is not in exec form`);
    report(name === 'MAINTAINER', 'DL4000 MAINTAINER is deprecated');
    report(name === 'RUN' && /\bsudo\b/.test(text), 'DL3004 sudo');
    report(name === 'RUN' && /\bcd\s+\S/.test(text), 'DL3003 cd instead of WORKDIR');
    report(name === 'RUN' && /\b(?:curl|wget)\b/.test(text), 'RUN downloads a file');
    report(name === 'RUN' && /apt-get install(?!.*--no-install-recommends)/.test(text), 'DL3015 recommended packages');
    report(name === 'RUN' && /\bnpm (?:install|i|add)\b/.test(text), 'RUN installs packages without a lock file');
    report(
      (name === 'ENV' || name === 'ARG') && SECRET.test(text.split(/[=\s]/)[0] ?? ''),
      `${name} ${text.split(/[=\s]/)[0] ?? ''} is a secret in the image`,
    );
    report(name === 'COPY' && /(?:^|\s)\S*(?:\.env|id_rsa|\.pem)\b/.test(text), 'COPY of a secret');
    report(
      flags['from'] !== undefined && !names.has(flags['from']) && !/^\d+$/.test(flags['from']),
      `DL3022 COPY --from=${flags['from'] ?? ''} names no stage`,
    );
  }
  const user = own.findLast(({ name }) => name === 'USER')?.text ?? '';
  report(!/^[1-9]\d*(?::[1-9]\d*)?$/.test(user), `DL3002 the last user is '${user}', not a number above 0`);
  const at = (wanted: string): number => own.findLastIndex(({ name }) => name === wanted);
  report(
    own.slice(at('USER') + 1).some(({ name }) => name === 'RUN' || name === 'COPY'),
    'USER is not the last word',
  );
  const health = own.filter(({ name }) => name === 'HEALTHCHECK');
  report(health.length !== 1, `DL3057 ${String(health.length)} health checks`);
  for (const { text, list } of health) report(!text.startsWith('CMD') || list === undefined, 'HEALTHCHECK is not in exec form'); // prettier-ignore
  for (const name of ['CMD', 'ENTRYPOINT']) {
    const times = own.filter((instruction) => instruction.name === name).length;
    report(times !== 1, `DL4003 ${String(times)} times ${name}`);
  }
  return found;
}
