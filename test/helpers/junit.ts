import { expect } from 'chai';

/** An element of an XML document. */
interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: XmlElement[];
  text: string;
}

/**
 * The elements of junit-10.xsd of the xUnit plugin of Jenkins that these reports use: attributes (with ! if they are
 * required) and children.
 */
const SCHEMA: Readonly<Record<string, { readonly attributes: string; readonly children: string }>> = {
  testsuites: { attributes: 'name time tests failures errors', children: 'testsuite' },
  testsuite: {
    attributes: 'name! tests! failures! errors! group time skipped timestamp hostname id package file log url',
    children: 'testsuite properties testcase system-out system-err',
  },
  testcase: { attributes: 'name! time classname group', children: 'skipped error failure system-out system-err' },
  failure: { attributes: 'type message', children: '' },
  error: { attributes: 'type message', children: '' },
  skipped: { attributes: 'type message', children: '' },
  'system-out': { attributes: '', children: '' },
};

/** The counts and test cases of a JUnit report. */
export interface JunitReport {
  readonly counts: Readonly<Record<string, string>>;
  /** `attribute: name -> outcome` for each test case, where the outcome is pass, failure, error or skipped. */
  readonly outcomes: Readonly<Record<string, string>>;
  readonly output: string;
}

/**
 * Parses a JUnit report of one test suite, and checks its structure, its characters and its counts.
 * @throws {AssertionError} if it does not follow the schema
 */
export function readJunit(xml: string): JunitReport {
  // XML 1.0: Char ::= #x9 | #xA | #xD | [#x20-#xD7FF] | [#xE000-#xFFFD] | [#x10000-#x10FFFF]
  expect(xml).to.match(/^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u);
  const root = parseXml(xml);
  assertSchema(root);
  expect(root.name).to.equal('testsuites');
  const [suite] = root.children;
  expect(root.children).to.have.length(1);
  if (suite === undefined) return expect.fail('no test suite');
  const cases = suite.children.filter(({ name }) => name === 'testcase');
  const outcomes = cases.map(({ attributes, children }): [string, string] => {
    const [outcome, ...more] = children.filter(({ name }) => name !== 'system-out');
    expect(more, 'outcomes of one test').to.have.length(0);
    return [`${attributes['classname'] ?? ''}: ${attributes['name'] ?? ''}`, outcome?.name ?? 'pass'];
  });
  const count = (kind: string): string => String(outcomes.filter(([, outcome]) => outcome === kind).length);
  const counts = { tests: String(cases.length), failures: count('failure'), errors: count('error') };
  expect(root.attributes).to.include(counts);
  expect(suite.attributes).to.include({ ...counts, skipped: count('skipped') });
  const output = suite.children.find(({ name }) => name === 'system-out')?.text ?? '';
  return { counts: suite.attributes, outcomes: Object.fromEntries(outcomes), output };
}

function assertSchema({ name, attributes, children, text }: XmlElement): void {
  const rules = SCHEMA[name];
  if (rules === undefined) return expect.fail(`there is no element ${name}`);
  const known = rules.attributes.split(' ');
  for (const key of Object.keys(attributes))
    expect(
      known.map((one) => one.replace('!', '')),
      `attributes of ${name}`,
    ).to.include(key);
  for (const key of known.filter((one) => one.endsWith('!')))
    expect(attributes, name).to.have.property(key.slice(0, -1));
  const allowed = rules.children.split(' ');
  for (const child of children) expect(allowed, `children of ${name}`).to.include(child.name);
  if (rules.children !== '') expect(text.trim(), `text of ${name}`).to.equal('');
  for (const child of children) assertSchema(child);
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

function unescape(text: string): string {
  expect(text).not.to.match(/[<>]|&(?!(?:amp|lt|gt|quot|#39);)/);
  return text.replaceAll(/&(\w+|#39);/g, (_, name: string) => ENTITIES[name] ?? '');
}

/** Parses XML without comments, CDATA and namespaces; fails if it is not well-formed. */
function parseXml(xml: string): XmlElement {
  const body = xml.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n/, '');
  expect(body).not.to.equal(xml);
  const root: XmlElement = { name: '', attributes: {}, children: [], text: '' };
  const open = [root];
  let end = 0;
  for (const tag of body.matchAll(/<(\/?)([\w-]+)((?: [\w-]+="[^"<]*")*)(\/?)>/g)) {
    const [all, closes, name = '', attributes = '', isEmpty] = tag;
    const current = open.at(-1) as XmlElement;
    current.text += unescape(body.slice(end, tag.index));
    end = tag.index + all.length;
    if (closes === '/') {
      expect(open.pop()?.name).to.equal(name);
      continue;
    }
    const given = [...attributes.matchAll(/ ([\w-]+)="([^"]*)"/g)].map(([, key = '', value = '']) => [key, unescape(value)]); // prettier-ignore
    const element = { name, attributes: Object.fromEntries(given) as Record<string, string>, children: [], text: '' };
    expect(Object.keys(element.attributes)).to.have.length(given.length);
    current.children.push(element);
    if (isEmpty !== '/') open.push(element);
  }
  expect(open).to.have.length(1);
  expect(body.slice(end).trim()).to.equal('');
  expect(root.children).to.have.length(1);
  return root.children[0] as XmlElement;
}
