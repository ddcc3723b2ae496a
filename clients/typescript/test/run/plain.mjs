// The journey in Node.js or Deno: the environment's JOURNEY says where; what was called is printed.
import process from "node:process";
import { journey } from "./journey.mjs";

console.log(JSON.stringify(await journey(JSON.parse(process.env.JOURNEY))));
