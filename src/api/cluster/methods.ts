/** What a side of a channel can be asked: functions of one argument, by name. Arguments and answers are plain data. */
export type Methods = Readonly<Record<string, (argument: never) => unknown>>;

/** A call as the one who answers it sees it. */
interface ServedCall {
  /** Aborts when the caller no longer waits, or is gone. */
  readonly signal: AbortSignal;
  /** Tells a subscriber something, before or after the answer. */
  readonly emit: (event: unknown) => void;
}

/** How a side answers what it can be asked. */
export type Handlers<Answered extends Methods> = {
  readonly [Name in keyof Answered]: (
    argument: Parameters<Answered[Name]>[0],
    call: ServedCall,
  ) => Promise<ReturnType<Answered[Name]>> | ReturnType<Answered[Name]>;
};
