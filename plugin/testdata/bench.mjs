export const Bench = async () => ({
  "chat.params": async (input, output) => {
    output.options.agent = input.agent
  },
  "chat.headers": async () => {},
  "experimental.chat.messages.transform": async () => {},
})
