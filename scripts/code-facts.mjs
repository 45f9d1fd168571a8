// Counts what makes src slow to read: files, code, small files, names used twice, copied bodies, folder cycles.
// `node scripts/code-facts.mjs` prints the counts; `--list` adds the names behind them; `--check` exits with 1 where
// a folder cycle or a copied body exists, as the continuous integration asks.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import ts from 'typescript';

const { values: options } = parseArgs({
  options: {
    src: { type: 'string', default: 'src' },
    list: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
  },
});

// What the build writes is not in the repository.
const GENERATED = '/* eslint-disable -- generated';
const SMALL_LINES = 20;
const INNER_LINES = 60;
// Shorter bodies are alike by chance: `return this.name;`.
const MIN_BODY_TOKENS = 15;

const root = path.resolve(options.src);
const sources = new Map(
  readdirSync(root, { recursive: true })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => [name.split(path.sep).join('/'), readFileSync(path.join(root, name), 'utf8')])
    .filter(([, text]) => !text.startsWith(GENERATED))
    .map(([file, text]) => [file, { text, tree: ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true) }]),
);
const files = [...sources.keys()].sort();

/** Returns what `Map.groupBy` of Node 22 does. */
function groupBy(items, keyOf) {
  const groups = new Map();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** Returns the tokens under a node, comments and white space left out. */
function tokensOf(node, tree) {
  const tokens = [];
  const visit = (child) => {
    if (child.kind >= ts.SyntaxKind.FirstJSDocNode && child.kind <= ts.SyntaxKind.LastJSDocNode) return;
    const children = child.getChildren(tree);
    if (children.length === 0) {
      const text = child.getText(tree);
      if (text !== '') tokens.push({ text, start: child.getStart(tree), end: child.getEnd() });
    } else children.forEach(visit);
  };
  visit(node);
  return tokens;
}

/** Returns the number of lines that hold code: no comments, no blanks. */
function countCodeLines({ tree }) {
  const lines = new Set();
  for (const { start, end } of tokensOf(tree, tree)) {
    const last = tree.getLineAndCharacterOfPosition(end).line;
    for (let line = tree.getLineAndCharacterOfPosition(start).line; line <= last; line++) lines.add(line);
  }
  return lines.size;
}

const isBarrel = ({ tree }) =>
  tree.statements.length > 0 && tree.statements.every((statement) => ts.isExportDeclaration(statement));

/** Returns the project's files that a file imports or re-exports, types included. */
function importsOf(file, { tree }) {
  const targets = new Set();
  const add = (specifier) => {
    if (!specifier.startsWith('.')) return;
    const target = path.posix.join(path.posix.dirname(file), specifier);
    if (sources.has(target)) targets.add(target);
  };
  const visit = (node) => {
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier) {
      add(node.moduleSpecifier.text);
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal.text);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      if (ts.isStringLiteral(node.arguments[0])) add(node.arguments[0].text);
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return targets;
}

const imports = new Map([...sources].map(([file, source]) => [file, importsOf(file, source)]));
const importers = new Map(files.map((file) => [file, []]));
for (const [file, targets] of imports) for (const target of targets) importers.get(target).push(file);

const lineCount = (file) => sources.get(file).text.trimEnd().split('\n').length;
const inner = files.filter((file) => {
  const [only, ...others] = importers.get(file);
  return (
    only !== undefined &&
    others.length === 0 &&
    path.dirname(only) === path.dirname(file) &&
    lineCount(file) < INNER_LINES &&
    !isBarrel(sources.get(file))
  );
});
const small = files.filter((file) => !isBarrel(sources.get(file)) && lineCount(file) < SMALL_LINES);

const basenames = groupBy(files, (file) => path.basename(file));
basenames.delete('index.ts');
const repeatedNames = [...basenames].filter(([, found]) => found.length > 1);

/** Returns every function body with its tokens joined, for those that are long enough to be copies. */
function bodiesOf(file, { tree }) {
  const bodies = [];
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body !== undefined) {
      const tokens = tokensOf(node.body, tree);
      if (tokens.length >= MIN_BODY_TOKENS) {
        const { line } = tree.getLineAndCharacterOfPosition(node.getStart(tree));
        const parameters = (node.parameters ?? []).map((parameter) => parameter.name.getText(tree)).join(',');
        bodies.push({
          key: `${parameters} => ${tokens.map(({ text }) => text).join(' ')}`,
          at: `${file}:${line + 1}`,
          isNamed:
            ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) || ts.isVariableDeclaration(node.parent),
        });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return bodies;
}
const bodies = groupBy(
  [...sources].flatMap(([file, source]) => bodiesOf(file, source)).filter(({ isNamed }) => isNamed),
  ({ key }) => key,
);
const copies = [...bodies.values()].filter((found) => found.length > 1).map((found) => found.map(({ at }) => at));

/** Returns the pairs of folders each of which imports the other, neither inside the other. */
function folderCycles() {
  const edges = new Set();
  for (const [file, targets] of imports) {
    for (const target of targets) {
      const [from, to] = [path.dirname(file), path.dirname(target)];
      if (from !== to) edges.add(`${from} ${to}`);
    }
  }
  return [...edges]
    .map((edge) => edge.split(' '))
    .filter(([from, to]) => from < to && edges.has(`${to} ${from}`) && !to.startsWith(`${from}/`))
    .map((pair) => pair.join(' <-> '));
}
const cycles = folderCycles();

const counts = {
  files: files.length,
  'code lines': [...sources.values()].reduce((sum, source) => sum + countCodeLines(source), 0),
  'small files (under 20 lines, no barrel)': small.length,
  'inner files (one importer in the same folder, under 60 lines)': inner.length,
  'names of files used twice': repeatedNames.length,
  'identical bodies': copies.length,
  'folder cycles': cycles.length,
};
for (const [name, count] of Object.entries(counts)) console.log(`${String(count).padStart(7)}  ${name}`);
if (options.list) {
  const section = (title, lines) => console.log(`\n${title}\n${lines.map((line) => `  ${line}`).join('\n')}`);
  section('small files', small);
  section(
    'inner files',
    inner.map((file) => `${file} <- ${importers.get(file)[0]}`),
  );
  section(
    'names used twice',
    repeatedNames.map(([name, found]) => `${name}: ${found.join(', ')}`),
  );
  section(
    'identical bodies',
    copies.map((found) => found.join(', ')),
  );
  section('folder cycles', cycles);
}
if (options.check && (copies.length > 0 || cycles.length > 0)) {
  console.error('Folders that import each other and copied function bodies are not allowed: see --list.');
  process.exitCode = 1;
}
