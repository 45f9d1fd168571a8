import { readFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';
import ts from 'typescript';

import { TENSOR_BACKENDS } from '../../src/tensor/index.ts';
import { filesIn, projectRoot } from '../helpers/project-files.ts';

/** The names of backends of this package and of TensorFlow.js. */
const NAMES: ReadonlySet<string> = new Set([...TENSOR_BACKENDS, 'tensorflow', 'webgl']);

/** The files that may distinguish backends, the list of backend names, and the installation of packages by backend. */
const ALLOWED = ['src/tensor/', 'src/numerics/', 'src/schemas/fields.ts', 'src/integration/install-backend.ts'];

/** Calls that check whether a list or a text contains a name. */
const LOOK_UPS: ReadonlySet<string> = new Set(['includes', 'has', 'indexOf', 'startsWith', 'endsWith', 'test']);

/** Finds the lines of a source that distinguish backends, as "line: text". */
function branchesIn(source: string): string[] {
  const file = ts.createSourceFile('file.ts', source, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (distinguishesBackends(node)) {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
      found.push(`${String(line + 1)}: ${node.getText(file).split('\n')[0] ?? ''}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function distinguishesBackends(node: ts.Node): boolean {
  if (ts.isBinaryExpression(node)) return isComparison(node.operatorToken.kind) && [node.left, node.right].some(isName);
  if (ts.isCaseClause(node)) return isName(node.expression);
  if (ts.isObjectLiteralExpression(node)) return isTable(node);
  if (ts.isPropertyAccessExpression(node)) return ['getBackend', 'backendName'].includes(node.name.text);
  return ts.isCallExpression(node) && isCheckUp(node);
}

function isComparison(kind: ts.SyntaxKind): boolean {
  return [
    ts.SyntaxKind.EqualsEqualsEqualsToken,
    ts.SyntaxKind.ExclamationEqualsEqualsToken,
    ts.SyntaxKind.EqualsEqualsToken,
    ts.SyntaxKind.ExclamationEqualsToken,
  ].includes(kind);
}

function isName(node: ts.Node): boolean {
  return ts.isStringLiteralLike(node) && NAMES.has(node.text);
}

/** A table by backend, { wasm: …, 'node-gpu': … }; a single entry may be a package of that name. */
function isTable({ properties }: ts.ObjectLiteralExpression): boolean {
  const keys = properties.flatMap(({ name }) =>
    name !== undefined && (ts.isIdentifier(name) || ts.isStringLiteralLike(name)) ? [name.text] : [],
  );
  return keys.filter((key) => NAMES.has(key)).length > 1;
}

/** Matches calls such as ['wasm', 'cpu'].includes(backend) and backend.startsWith('node'). */
function isCheckUp({ expression, arguments: given }: ts.CallExpression): boolean {
  if (!ts.isPropertyAccessExpression(expression) || !LOOK_UPS.has(expression.name.text)) return false;
  const list = expression.expression;
  const inList = holdsName(list) || (ts.isNewExpression(list) && (list.arguments ?? []).some(holdsName));
  return inList || given.some(isName);
}

function holdsName(node: ts.Node): boolean {
  return ts.isArrayLiteralExpression(node) && node.elements.some(isName);
}

describe('code outside src/tensor', () => {
  it('is distinguished from code that distinguishes backends', () => {
    const branches = [
      "if (backend === 'wasm') slow();",
      "const isGpu = 'webgpu' !== name;",
      "switch (backend) { case 'node-gpu': break; }",
      'if (tf.getBackend() === other) fast();',
      "if (['wasm', 'cpu'].includes(backend)) slow();",
      "if (new Set(['cpu']).has(backend)) slow();",
      'const rows = { wasm: 10, webgpu: 1000 }[backend];',
      "if (backend.startsWith('node')) fast();",
      'const name = tf.engine().backendName;',
    ];
    expect(branches.filter((source) => branchesIn(source).length === 0)).to.deep.equal([]);
    const plain = [
      "await loadTensorflow({ backend: 'wasm' });",
      "const backends = ['auto', 'node-gpu', 'webgpu'];",
      "type Backend = 'wasm' | 'cpu';",
      "// backend === 'wasm'",
      'const { isOneThreaded } = traitsOf(backend);',
      "console.log('wasm');",
    ];
    expect(plain.flatMap(branchesIn)).to.deep.equal([]);
  });

  it('is the same on every backend', () => {
    const files = filesIn('src', '.ts').filter((file) => !ALLOWED.some((location) => file.startsWith(location)));
    expect(files.length).to.be.above(300);
    const branches = files.flatMap((file) =>
      branchesIn(readFileSync(path.join(projectRoot, file), 'utf8')).map((where) => `${file}:${where}`),
    );
    expect(branches).to.deep.equal([]);
  });
});
