interface Description {
  readonly message: string;
  readonly suggestion: string;
}

const QUOTES = "Put the text in quotes: '…'.";

/** What goes wrong most often, in the words of who wrote the file. */
const KNOWN: Readonly<Partial<Record<string, Description>>> = {
  BAD_SCALAR_START: { message: 'a text cannot start with this character', suggestion: QUOTES },
  BLOCK_AS_IMPLICIT_KEY: {
    message: 'a second `key: value` stands where one value belongs',
    suggestion: "Indent it below its key, or put a text with ': ' in quotes.",
  },
  MISSING_CHAR: { message: 'a closing quote, bracket or colon is missing', suggestion: 'Close what is open.' },
  RESOURCE_EXHAUSTION: { message: 'this is nested too deeply', suggestion: 'Write it flat.' },
  MULTIPLE_DOCS: { message: 'a second document starts here', suggestion: 'Keep one document: remove the line ---.' },
  TAB_AS_INDENT: { message: 'a tab is used to indent', suggestion: 'Indent with spaces.' },
  TAG_RESOLVE_FAILED: { message: 'this tag is not known', suggestion: `Leave it out; or, if it is a text: ${QUOTES}` },
  UNEXPECTED_TOKEN: { message: 'this is not expected here', suggestion: QUOTES },
};

/** A parser's complaint in a sentence, and what to do. */
export function describeYamlError(code: string, message: string): Description {
  const known = KNOWN[code];
  if (known !== undefined) return known;
  const [first = ''] = message.split(/ at line \d+|\n/);
  return {
    message: `this is no YAML: ${first.charAt(0).toLowerCase()}${first.slice(1).replace(/:$/, '')}`,
    suggestion: `Check indentation, brackets and quotes. ${QUOTES}`,
  };
}
