// What server-everything has, used through whatever proxy the client is connected to.
import { attempt, check, textOf } from './support.mjs';

/** Tools, resources, prompts and completions; `client` is an official one. */
export async function useEverything(client) {
  const call = (name, given) => attempt(name, () => client.callTool({ name, arguments: given }));
  const echo = await call('echo', { message: 'hello' });
  check('echo answers', textOf(echo) === 'Echo: hello', echo);
  const image = await call('get-tiny-image', {});
  check('an image comes through', image?.content.some((part) => part.type === 'image'), image);

  const listed = await attempt('resources/list', () => client.listResources());
  check('its resources are listed', listed?.resources.length > 0, listed);
  const uri = listed?.resources[0]?.uri;
  const read = await attempt('resources/read', () => client.readResource({ uri }));
  check('a resource is read', read?.contents[0]?.uri === uri && read.contents[0].text?.length > 0, read);
  const families = await attempt('resources/templates/list', () => client.listResourceTemplates());
  const family = families?.resourceTemplates.find((one) => one.uriTemplate.includes('text'));
  check('families of resources are listed', family !== undefined, families);
  const dynamic = family?.uriTemplate.replace(/\{[^}]*\}/, '1');
  const made = await attempt('resources/read', () => client.readResource({ uri: dynamic }));
  check('one of a family is read', made?.contents.length === 1, made);

  const prompts = await attempt('prompts/list', () => client.listPrompts());
  check('its prompts are listed', prompts?.prompts.some((one) => one.name === 'args-prompt'), prompts);
  const prompt = await attempt('prompts/get', () =>
    client.getPrompt({ name: 'args-prompt', arguments: { city: 'Cork' } }));
  check('a prompt is expanded', JSON.stringify(prompt?.messages ?? '').includes('Cork'), prompt);
  const values = await attempt('completion/complete', () => client.complete(
    { ref: { type: 'ref/prompt', name: 'completable-prompt' }, argument: { name: 'department', value: 'S' } }));
  check('an argument is completed', values?.completion.values.join() === 'Sales,Support', values);
}
