"""Calls tools with the official Python SDK; the same input and output as mcp_sdk1.mjs."""

import asyncio
import json
import os
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def main():
    headers = {"Authorization": "Bearer " + os.environ["MCP_KEY"]}
    results = []
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        async with Client(streamable_http_client(os.environ["MCP_URL"], http_client=http)) as client:
            await client.list_tools()
            for call in json.load(sys.stdin):
                try:
                    r = await client.call_tool(call["name"], call["arguments"])
                    text = "\n".join(c.text for c in r.content if c.type == "text")
                    results.append({"isError": bool(r.is_error), "text": text, "structured": r.structured_content})
                except Exception as error:
                    results.append({"threw": repr(error)})
    print(json.dumps(results))


asyncio.run(main())
