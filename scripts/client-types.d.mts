export const DOCUMENT_FILE: string;
export const CLIENT_TYPES_FILE: string;
export function clientTypesText(document: string): Promise<string>;
export function writeClientTypes(): Promise<void>;
