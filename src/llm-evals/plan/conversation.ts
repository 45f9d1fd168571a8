import type { TemplateMessage } from '../../schemas/llm-eval/llm-eval-document.ts';

/** A message of a planned conversation. If the content is null, it is the model's turn. */
export interface PlannedMessage {
  readonly role: TemplateMessage['role'];
  readonly content: string | null;
}

/** A message with content, as a client receives it. */
interface CompleteMessage extends PlannedMessage {
  readonly content: string;
}

/** The text that stands for the model's turn in a readable conversation. */
const MODEL_TURN = '(answer of the model)';

/** The text that is sent for an empty answer in an earlier turn, because APIs reject empty messages. */
const EMPTY_ANSWER = '(no answer)';

/**
 * Renders a conversation as readable text. Each message starts with a line with its role. A single message of the user
 * is rendered as its content.
 */
export function renderConversation(messages: readonly PlannedMessage[]): string {
  const [first, ...others] = messages;
  if (first?.role === 'user' && others.length === 0) return first.content ?? '';
  return messages.map(({ role, content }) => `[${role}]\n${content ?? MODEL_TURN}`).join('\n\n');
}

/**
 * Returns whether a conversation can be sent: only messages of the assistant are turns of the model, and the last
 * message is of the user. The configuration checks its own conversations; custom evaluators may plan others.
 */
export function isSendable(messages: readonly PlannedMessage[]): boolean {
  const last = messages.at(-1);
  const hasOwners = messages.every(({ role, content }) => content !== null || role === 'assistant');
  return hasOwners && last?.role === 'user';
}

/** Returns the number of requests of a conversation: one for each turn of the model, including the last answer. */
export function turnCount(messages: readonly PlannedMessage[] | undefined): number {
  return 1 + (messages ?? []).filter(({ content }) => content === null).length;
}

/**
 * Returns the messages of the next request of a conversation. The answers of the model fill its turns in order, and the
 * messages end before the next turn of the model.
 */
export function messagesOfTurn(messages: readonly PlannedMessage[], answers: readonly string[]): CompleteMessage[] {
  const turn: CompleteMessage[] = [];
  let filled = 0;
  for (const { role, content } of messages) {
    const text = content ?? answers[filled++];
    if (text === undefined) break;
    turn.push({ role, content: text === '' ? EMPTY_ANSWER : text });
  }
  return turn;
}
