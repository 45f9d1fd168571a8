import { expect } from 'chai';

import { asOneLine, fitLine, jsonText, terminalLayout, withoutControls } from '../../src/cli/output.ts';

describe('text from data on a terminal', () => {
  const steering: readonly (readonly [title: string, text: string, shown: string])[] = [
    ['escapes', 'a\u001b[2Jb', 'a\ufffd[2Jb'],
    ['control characters beyond ASCII', 'a\u009bb', 'a\ufffdb'],
    ['a return to the start of the line', 'a\rb', 'a\ufffdb'],
    ...['\u200e', '\u200f', '\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069'].map(
      (control) => [`U+${control.codePointAt(0)?.toString(16) ?? ''}`, `a${control}b`, 'a\ufffdb'] as const,
    ),
    ['characters without control function', 'é ä 中\tא ש ع\n\u200d\u2010\u2065\u206a', 'é ä 中\tא ש ع\n\u200d\u2010\u2065\u206a'],
  ]; // prettier-ignore
  for (const [title, text, shown] of steering) {
    it(`has no characters that control the terminal: ${title}`, () => {
      expect(withoutControls(text)).to.equal(shown);
    });
  }

  for (const newline of ['\n', '\r\n', '\r', '\u2028', '\u2029', '\u0085', '\v', '\f']) {
    it(`stays on one line: ${JSON.stringify(newline)}`, () => {
      expect(asOneLine(`a${newline}b${newline}${newline}c`)).to.equal('a⏎b⏎⏎c');
    });
  }

  it('is the same data as JSON, without characters that control the terminal', () => {
    const data = { 'a\u202e': ['\u200fא', '\u009b2J', '\u007f', 'two\nlines'], n: 1 };
    const text = jsonText(data);
    expect(JSON.parse(text)).to.deep.equal(data);
    expect(withoutControls(text)).to.equal(text);
    expect(jsonText({ a: 1 })).to.equal('{\n  "a": 1\n}\n');
  });
});

describe('the layout of results', () => {
  for (const [columns, width] of [
    [60, 60],
    [20, 40],
    [300, 160],
    [0, 80],
  ] as const) {
    it(`has ${String(width)} columns in a terminal of ${String(columns)}`, () => {
      expect(terminalLayout({ isTTY: true, columns }, { TERM: 'xterm' }).width).to.equal(width);
    });
  }

  it('cuts nothing for a pipe', () => {
    expect(terminalLayout({ isTTY: false, columns: 60 }, { TERM: 'xterm' })).to.deep.equal({
      width: Infinity,
      colours: false,
    });
  });

  it('breaks an error at spaces in a terminal, and keeps it on one line elsewhere', () => {
    const line = "error: unknown option '--force'. Run 'evenhand predict --help' for the options.";
    expect(fitLine(line, { isTTY: true, columns: 40 }).split('\n')).to.deep.equal([
      "error: unknown option '--force'. Run",
      "'evenhand predict --help' for the",
      'options.',
    ]);
    expect(fitLine(line, { isTTY: true, columns: 0 })).to.equal(line);
    expect(fitLine(line, { isTTY: false, columns: 40 })).to.equal(line);
  });

  // no-color.org and the documentation of Node.js: FORCE_COLOR has precedence over NO_COLOR.
  const rules: readonly (readonly [env: Record<string, string>, isTTY: boolean, colours: boolean])[] = [
    [{ TERM: 'xterm' }, true, true],
    [{ TERM: 'dumb' }, true, false],
    [{ TERM: 'xterm', NO_COLOR: '1' }, true, false],
    [{ TERM: 'xterm', NODE_DISABLE_COLORS: '1' }, true, false],
    [{ TERM: 'xterm', FORCE_COLOR: '0' }, true, false],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '0' }, false, false],
    [{ NO_COLOR: '1' }, false, false],
    [{ TERM: 'xterm' }, false, false],
  ];
  for (const [env, isTTY, colours] of rules) {
    it(`has ${colours ? 'colours' : 'no colours'} ${isTTY ? 'on a terminal' : 'in a pipe'} with ${JSON.stringify(env)}`, () => {
      expect(terminalLayout({ isTTY, columns: 80 }, env).colours).to.equal(colours);
    });
  }
});
