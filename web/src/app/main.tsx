import './styles.css';
import { EngineClient } from './client.ts';

const client = new EngineClient();
Object.assign(globalThis, { client });
