// The wording of errors is not part of the interface, so that a test which would notice a changed word is not wanted.
// Codes and contexts of errors are part of it and are mutated.
const TEXTS = ['message', 'suggestion'];

export const strykerPlugins = [{ kind: 'Ignore', name: 'messages', value: { shouldIgnore: ignoreMessage } }];

/** Returns the reason to leave out a part of the syntax tree, or undefined if it is to be mutated. */
function ignoreMessage({ node, parent }) {
  const isFirstArgument = parent?.type === 'NewExpression' && parent.arguments[0] === node;
  if (isFirstArgument && parent.callee.name?.endsWith('Error')) return 'the message of an error';
  const isText = parent?.type === 'ObjectProperty' && parent.value === node && TEXTS.includes(parent.key.name);
  return isText && /Literal|ConditionalExpression/.test(node.type) ? 'the message of an error' : undefined;
}
