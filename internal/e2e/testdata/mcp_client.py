"""Calls tools with the official Python SDK; the same input and output as mcp_sdk1.mjs."""

import asyncio
import json
import os
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client


def transport(http):
    url, key, command = os.environ["MCP_URL"], os.environ["MCP_KEY"], os.environ.get("MCP_COMMAND")
    if command:
        env = {"VITRINE_URL": url.removesuffix("/mcp"), "VITRINE_API_KEY": key}
        return stdio_client(StdioServerParameters(command=command, args=["mcp"], env=env))
    return streamable_http_client(url, http_client=http)


async def prompt_text(client, call):
    """Returns the text of a prompt, or the names of all where none is named."""
    if not call["prompt"]:
        prompts = (await client.list_prompts()).prompts
        return " ".join(p.name + "(" + ",".join(a.name + ("" if a.required else "?") for a in p.arguments) + ")" for p in prompts)
    r = await client.get_prompt(call["prompt"], call["arguments"])
    return "\n".join(m.content.text for m in r.messages)


async def main():
    headers = {"Authorization": "Bearer " + os.environ["MCP_KEY"]}
    results = []
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        async with Client(transport(http)) as client:
            await client.list_tools()
            for call in json.load(sys.stdin):
                try:
                    if "prompt" in call:
                        results.append({"text": await prompt_text(client, call)})
                        continue
                    r = await client.call_tool(call["name"], call["arguments"])
                    text = "\n".join(c.text for c in r.content if c.type == "text")
                    results.append({"isError": bool(r.is_error), "text": text, "structured": r.structured_content})
                except Exception as error:
                    results.append({"threw": repr(error)})
    print(json.dumps(results))


asyncio.run(main())
