// The wording of errors is not part of the interface, so that a test which would notice a changed word is not wanted.
// Codes and contexts of errors are part of it and are mutated.
const TEXTS = ['message', 'suggestion'];

// Functions that only arrange known numbers as Markdown. Whole reports are compared with golden files instead.
const LAYOUTS = ['metricToMarkdown', 'comparisonNote', 'gapNote', 'groupTable', 'frameToMarkdown', 'levelSection'];

export const strykerPlugins = [{ kind: 'Ignore', name: 'messages', value: { shouldIgnore: ignoreText } }];

/** Returns the reason to leave out a part of the syntax tree, or undefined if it is to be mutated. */
function ignoreText({ node, parent }) {
  // The type allows only the complete list, so that the compiler rejects each change.
  if (node.type === 'VariableDeclarator' && typeNameOf(node.id) === 'OptionNames') return 'a list of names of options';
  if (node.type === 'FunctionDeclaration' && LAYOUTS.includes(node.id?.name)) return 'the layout of a Markdown text';
  const isFirstArgument = parent?.type === 'NewExpression' && parent.arguments[0] === node;
  if (isFirstArgument && parent.callee.name?.endsWith('Error')) return 'the message of an error';
  const isText = parent?.type === 'ObjectProperty' && parent.value === node && TEXTS.includes(parent.key.name);
  return isText && /Literal|ConditionalExpression/.test(node.type) ? 'the message of an error' : undefined;
}

function typeNameOf({ typeAnnotation }) {
  return typeAnnotation?.typeAnnotation?.typeName?.name;
}
