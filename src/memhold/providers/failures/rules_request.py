"""What providers say of a request: its length, its content, its tools, its form; and of the model's failing at it."""

from __future__ import annotations

from typing import Final

from memhold.providers.failures.rule import SPOKEN_FOR, Rule, codes, words

__all__ = [
    "LENGTH",
    "MODEL_FAILED",
    "PARAMETERS",
    "PAYLOAD",
    "REFUSAL",
    "REQUEST",
    "TOOLS",
]

MODEL_FAILED: Final[tuple[Rule, ...]] = (
    Rule(
        name="bad-generation",
        cls="resample",
        why="the model did not produce a valid tool call or valid JSON",
        # Groq: console.groq.com/docs/errors; Gemini finishReason; Ollama and llama.cpp parse the call on the server
        codes=codes(
            "tooluseffailed toolusefailed jsonvalidatefailed outputparsefailed malformedfunctioncall "
            "unexpectedtoolcall malformedresponse invalidmodeloutput modelerroroutput missingthoughtsignature "
            "toolcallparseerror toomanytoolcalls jsonschemavalidationfailed unparsabletooluse malformedtooluse "
            "malformedmodeloutput jsondecodeerror decodingerror apiresponsevalidationerror unexpectedmodelbehavior"
        ),
        words=words(
            r"failed to call a function",
            r"tool call validation failed",
            r"error parsing tool call",
            r"failed to (?:parse|generate) (?:the )?(?:json|tool|function|output|model)",
            r"failed to parse input at pos",
            r"model (?:produced|generated|returned|output) (?:an )?(?:invalid|malformed|empty|unparsable)",
            r"(?:invalid|malformed) (?:tool call|function call|json) (?:was )?(?:generated|produced|returned) by",
            r"could not finish the message because max_tokens",
            r"model (?:output|response) (?:could not be|was not) (?:parsed|valid)",
            r"exceeded maximum retries .*(?:validation|output)",
        ),
    ),
)

LENGTH: Final[tuple[Rule, ...]] = (
    Rule(
        name="output-limit-parameter",
        cls="next",
        why="the demanded output is longer than this model can write",
        # Anthropic "max_tokens: 100000 > 8192"; OpenAI "max_tokens is too large"
        words=words(
            r"max_(?:completion_|output_|new_)?tokens`? (?:is |value )?(?:too large|too high)",
            r"max_(?:completion_|output_|new_)?tokens: ?\d+ ?> ?\d+",
            r"maximum (?:allowed )?number of output tokens",
            r"at most \d+ (?:completion|output) tokens",
            r"(?<!\+ )(?<!\+ `)`?\bmax_(?:completion_|output_|new_)?tokens`? (?:must be|should be|"
            r"cannot be) (?:less|smaller|at most|<)",
            r"range of max_tokens should be",
        ),
        not_statuses=frozenset({401, 403, 404, 429}),
    ),
    Rule(
        name="too-long",
        cls="shorten",
        why="the request is longer than this model or server takes",
        # OpenAI, Groq, Together, Fireworks, Cerebras: context_length_exceeded; llama.cpp exceed_context_size_error;
        # GitHub Models tokens_limit_reached; Anthropic request_too_large; LiteLLM ContextWindowExceededError
        codes=codes(
            "contextlengthexceeded exceedcontextsizeerror contextwindowexceeded contextwindowexceedederror "
            "modelcontextwindowexceeded requesttoolarge requestentitytoolarge payloadtoolarge contenttoolarge "
            "stringabovemaxlength arrayabovemaxlength tokenslimitreached prompttoolong inputtoolong toomanytokens "
            "maxtokensperrequest tokenlimitexceeded contextlimitexceeded contextoverflow maxcontextlengthexceeded "
            "stringtoolong toolong listtoolong "
            "promptlengthexceeded inputlengthexceeded 1261 1039 maxinputlengthexceeded contextlengthexceedederror"
        ),
        words=words(
            r"(?:maximum|max) (?:allowed )?(?:context|prompt|input|sequence|model|token) ?(?:window |size |"
            r"context )?length",
            r"(?:context|prompt|sequence) (?:window|size|length|limit).{0,60}(?:exceed|overflow|too (?:small|long|"
            r"large))",
            r"(?:exceed|overflow|greater than|longer than|larger than|beyond|too (?:large|long|many)).{0,80}"
            r"context (?:window|size|length|limit)",
            r"context (?:the )?overflow|context shift is disabled",
            r"cannot exceed (?:the )?.{0,30}\d+ tokens|exceeds? \d+ tokens",
            r"exceed\w* .{0,40}token limit(?! per)",
            r"reached context length|context (?:length|window|size|limit) (?:is|of) (?:only )?\d",
            r"model is loaded with context length of only",
            r"(?:prompt|input|inputs|request|query|text|document|conversation)s?`? (?:is |are |was |"
            r"were )?too (?:long|large)",
            r"too (?:long|large) to process",
            r"(?:request|prompt|payload|body|message|content|entity) (?:entity |body |size |"
            r"payload )?(?:is )?too (?:long|large|big)",
            r"too many (?:input |prompt |total )?tokens(?! per|, please wait|\\b.{0,20}wait)",
            r"(?:input|prompt|request|total)\S*(?: \w+)? (?:token|length|size)\S*.{0,60}exceed",
            r"exceeds?.{0,40}(?:maximum|max|limit).{0,30}(?:tokens?\b(?! per m)|size|length|characters|input)",
            r"exceeds? the (?:maximum|limit) (?:allowed )?(?:size|length|number of tokens|token|payload|request)",
            r"tokens?.{0,40}exceeds? (?:the )?(?:maximum|max|model|context|limit|allowed)",
            r"`?inputs`?(?: tokens)? .{0,40}must (?:be <=|have less than|be less)",
            r"must have less than \d+ tokens",
            r"(?:reduce|shorten|truncate|trim) (?:the |your )?(?:length|prompt|input|message|context|size|"
            r"number of tokens|text)",
            r"longer than the (?:maximum )?(?:model|context|allowed|sequence)",
            r"maximum (?:request|allowed|payload|content) (?:size|length)",
            r"max(?:imum)? (?:allowed )?tokens per (?:submitted )?(?:batch|request)|max \d+ tokens per request",
            r"range of input length should be",
            # pydantic's string_too_long and too_long
            r"(?:string|list|array) should have at most \d+ (?:characters|items)",
            r"string too long|array too long|at most \d+ (?:requests|texts|inputs|documents|items|strings)",
            r"total number of (?:texts|tokens|inputs).{0,60}(?:at most|cannot exceed|must be)",
            r"input or output tokens must be reduced",
            r"input (?:length|text|tokens?).{0,30}(?:exceed|too long|greater|larger|above)",
            r"batch size \d+ (?:>|exceeds|is larger)|batch size limit",
            # vLLM takes what the window leaves over as the output's limit: less than nothing for a long prompt
            r"max_(?:completion_)?tokens must be at least \d+, got -\d",
        ),
        not_statuses=frozenset({401, 402, 403}),
    ),
)

REFUSAL: Final[tuple[Rule, ...]] = (
    Rule(
        name="content-filter",
        cls="next",
        why="this provider does not take this content",
        # Azure content_filter; OpenAI invalid_prompt, content_policy_violation; Gemini blockReason and finishReason;
        # DashScope DataInspectionFailed; DeepSeek "Content Exists Risk"; Bedrock guardrails; Zhipu 1301
        codes=codes(
            "contentfilter contentfiltered contentpolicyviolation contentpolicyviolationerror invalidprompt "
            "responsibleaipolicyviolation moderation moderationblocked moderationerror contentmoderation safety "
            "imagesafety prohibitedcontent recitation blocklist spii guardrailintervened guardrailblocked refusal "
            "datainspectionfailed sensitivecontentdetected inputtextsensitivecontentdetected "
            "outputtextsensitivecontentdetected contentblocked promptblocked blockedprompt contentviolation "
            "usagepolicyviolation policyviolation cyberpolicyviolation 1301 1026 1027 flagged contentfiltererror "
            "safetycheckfailed safetyviolation"
        ),
        words=words(
            r"content (?:management |moderation |safety )?(?:polic|filter)",
            r"(?:was|been|were|is|got) (?:flagged|blocked|filtered|rejected) (?:by|as|for|due|because|under)",
            r"requires moderation",
            r"(?:flagged|blocked) (?:content|prompt|input|output|by)",
            r"content exists risk",
            r"violat\w+.{0,60}(?:polic|guideline|terms|safety)",
            r"safety (?:system|filter|setting|reason|polic|guideline|check)",
            r"(?:inappropriate|harmful|unsafe|sensitive|prohibited|illegal|nsfw) (?:content|text|prompt|input|"
            r"information)",
            r"usage (?:polic|guideline)",
            r"guardrail",
        ),
        not_statuses=frozenset({401, 404}),
        refused=True,
    ),
)

TOOLS: Final[tuple[Rule, ...]] = (
    Rule(
        name="tool-choice",
        cls="next",
        why="this link does not take a forced tool choice",
        # vLLM needs --enable-auto-tool-choice; Anthropic refuses forcing beside thinking; DeepSeek reasoner; Qwen
        words=words(
            r"tool[_ ]choice.{0,120}(?:not (?:be )?(?:support|allow|permit|valid|compatib|implement)|unsupported|"
            r"requires|"
            r"incompatible|only (?:support|allow|accept)|must be (?:auto|one of|either|set)|invalid|forces|"
            r"unknown|does not|"
            r"is not|no effect|cannot|ignored|should be)",
            r"(?:not support|unsupported|not compatible|incompatible|not allowed|may not|cannot|can't|"
            r"invalid value|unknown|"
            r"doesn't support|unexpected|unrecognized|extra inputs).{0,120}tool[_ ]choice",
            r"forced? (?:tool|function)[- _](?:use|call\w*|choice).{0,60}not",
            r"no endpoints found that support the provided .{0,3}tool_choice",
        ),
        not_statuses=frozenset({401, 402, 403, 429}),
    ),
    Rule(
        name="no-tools",
        cls="next",
        why="this model does not call tools",
        # Ollama "does not support tools"; OpenRouter "No endpoints found that support tool use"
        words=words(
            r"(?:not|n't|cannot) (?:currently )?support(?:s|ed)? .{0,30}(?:tools?|function|parallel)",
            r"no endpoints found that support",
            r"(?:tools?|tool use|tool calling|function calling|functions) (?:is|are) not (?:supported|available|"
            r"enabled)",
            r"tool (?:use|calling) is (?:un|not )(?:supported|available)",
        ),
        not_statuses=frozenset({401, 402, 403, 429}),
    ),
    Rule(
        name="unknown-field",
        cls="next",
        why="this link does not know one of the request's fields",
        # Gemini "Unknown name", Mistral and Anthropic "Extra inputs are not permitted": other providers take the field
        codes=codes("extraforbidden unknownparameter unsupportedparameter unsupportedvalue"),
        words=words(
            r"unknown (?:name|parameter|field|argument)|unrecognized (?:request )?(?:argument|parameter|field|key)s?",
            r"extra (?:inputs|fields) (?:are )?not permitted|extra_forbidden|additional properties are not allowed",
        ),
        not_statuses=SPOKEN_FOR | {429},
    ),
)

PAYLOAD: Final[tuple[Rule, ...]] = (
    Rule(
        name="tool-pairing",
        cls="poison",
        why="calls and results of tools in the request do not belong together",
        # OpenAI, Anthropic, Gemini and Mistral each say it in their own words: cut windows
        words=words(
            r"role '?`?tool'?`?.{0,80}(?:must|should|response|preced|follow)",
            r"tool_use_?id|`tool_use`|tool_result|tool_call_ids?\b|tool_calls'? must be followed",
            r"preceed?ing message with|response to a preceed?ing|must be followed by tool messages",
            r"function (?:call|response) turn|number of function response parts|function response parts",
            r"not the same number of function calls and responses",
            r"no tool (?:call|output) found for|unexpected tool call id",
        ),
        not_statuses=SPOKEN_FOR,
    ),
    Rule(
        name="roles",
        cls="poison",
        why="the order or the roles of the messages are not valid",
        words=words(
            r"roles? must alternate|must alternate between|alternating (?:user|roles)",
            r"(?:first|last) message (?:must|should|cannot|has to)|must (?:start|begin|end) with an? (?:user|tool|"
            r"system)",
            r"(?:unexpected|invalid|unknown|unsupported) (?:message )?role",
            r"expected last role",
            r"at least one message|messages?: ?(?:list )?should have at least",
            r"system message must be|only one system message|after the optional system message",
            r"(?:content|messages?|contents|text|input|prompt)(?: \w+)? (?:is |are |must be |cannot be |"
            r"must not be |can't be "
            r"|may not be |should not be )(?:non-?empty|empty|not specified|required|null|blank)",
            r"(?:must have|contain) (?:non-?empty|a text|at least one|a non)",
            r"contents? (?:is|are) (?:not specified|required)|must include at least one parts? field",
            r"does not support assistant message prefill|ends? with (?:an )?assistant|final assistant content",
        ),
        not_statuses=SPOKEN_FOR,
    ),
    Rule(
        name="schema",
        cls="next",
        why="the tool's schema or the response schema is not valid",
        # OpenAI invalid_function_parameters; Anthropic tools.N.custom.input_schema
        codes=codes("invalidfunctionparameters invalidjsonschema invalidtoolschema invalidschema"),
        words=words(
            r"invalid schema for|invalid (?:tool|function|json)?[ _-]?(?:schema|definition|parameters)",
            r"tools?[.\[]\d+.{0,40}(?:input_schema|function|parameters|name)",
            r"json schema is invalid|schema (?:is|must be) (?:invalid|of type|a valid)",
            r"function (?:name|declaration).{0,40}(?:invalid|must|duplicate)|tool names must be unique|duplicate tool",
        ),
        not_statuses=SPOKEN_FOR,
    ),
)

PARAMETERS: Final[tuple[Rule, ...]] = (
    Rule(
        name="not-a-number",
        cls="poison",
        why="the model has no vector for this text",
        # Ollama: a vector with NaN in it cannot be written as JSON, and comes back as a 500
        words=words(r"unsupported value: (?:nan|[+-]?inf)"),
        kind="embedding",
    ),
    Rule(
        name="parameter",
        cls="next",
        why="this link does not take one of the request's parameters",
        # OpenAI unsupported_parameter, unsupported_value; Gemini "Unknown name"; Mistral extra_forbidden
        codes=codes(
            "unsupportedparameter unsupportedvalue unknownparameter extraforbidden unsupportedparamserror "
            "unsupportedparams unsupportedoperation notimplemented unimplemented unsupportedfeature notsupportederror "
            "unsupportedmodelfeature"
        ),
        words=words(
            r"unsupported (?:parameter|value|field|argument|option|feature|param)",
            r"(?:parameter|value|field|argument|option|feature|temperature|top_p|response_format|stream\w*|logprobs|"
            r"reasoning\w*|thinking|json_schema|json mode|system role|developer instruction|system message|streaming|"
            r"max_tokens)\S*(?: [\w`'\".]+){0,8} (?:not|n't|isn.t|no longer) (?:\w+ )?(?:support|allow|permit|"
            r"accept|implement|available)",
            r"(?:does not|doesn't|do not|don't) (?:currently )?(?:support|accept|allow)\b",
            r"(?:is|are) (?:not (?:yet |currently )?supported|deprecated|unsupported|not implemented)(?! model)",
            r"only the default .{0,20}value is supported|unexpected keyword argument|cannot both be (?:specified|"
            r"set|used)|cannot (?:use|set|specify) both",
            # vLLM and TGI: the model brings no chat template; another model does
            r"chat template|template (?:error|not found)",
            r"not enabled for (?:this |the )?(?:models?|endpoint|deployment)|requires? (?:the )?`?--[a-z]",
            r"tool call id was .{0,80}must be",
        ),
        statuses=frozenset({200, 400, 422, 500, 501, 404, 406}),
    ),
)

REQUEST: Final[tuple[Rule, ...]] = (
    Rule(
        name="invalid-request",
        cls="poison",
        why="the request itself is not valid",
        # what is left of OpenAI's and Anthropic's invalid_request_error, gRPC INVALID_ARGUMENT, AWS ValidationException
        codes=codes(
            "invalidrequesterror invalidrequest badrequesterror badrequest badrequestexception invalidargument "
            "validationexception validationerror invalidparameter invalidparametererror invalidparametervalue "
            "invalidparametervalueexception invalidinput invalidinputerror invalidinputargument invalidrequestentity "
            "requestvalidationerror unprocessableentity unprocessableentityerror invalidtype invalidvalue "
            "missingparameter "
            "missingrequiredparameter missing missingfield typeerror jsoninvalid stringtype listtype dicttype "
            "valueerror "
            "jsonparseerror parseerror invalidjson schemavalidationerror serializationexception 2013 1210 1213 1214 "
            "invalidmessages malformedrequest invalidbody"
        ),
        words=words(
            r"invalid (?:input|type|value|parameter|argument|request|json|body|format|image|base64|messages?|"
            r"field|content|"
            r"payload|message)",
            r"(?:is )?not of type|expected .{0,80}(?:but )?(?:got|found|received)|input should be|missing required|"
            r"required (?:field|property|parameter)|field required|is a required property|is required\b",
            r"(?:could not|couldn't|unable to|failed to|cannot|can't) (?:parse|decode|deserialize|unmarshal|"
            r"process the json)",
            r"malformed|invalid character|must be (?:a|an|of|one of|either|in|between|non|positive|greater|less|"
            r"strings?|valid|unique)\b",
            r"validation error|messages?[.\[]\d+|body ?-> ?messages|cannot (?:unmarshal|be empty|be null)",
        ),
        not_statuses=SPOKEN_FOR
        | {408, 409, 425, 499, 500, 501, 502, 503, 504, 520, 521, 522, 523, 524, 525, 526, 529, 530},
    ),
    Rule(
        name="invalid-request-inside",
        cls="poison",
        why="the request itself is not valid, under another status",
        # A gateway's 5xx around a document that is, by its structured type, a refusal of the payload
        codes=codes(
            "invalidrequesterror badrequesterror invalidargument validationexception requestvalidationerror "
            "unprocessableentityerror badrequest badrequestexception invalidparametererror missingrequiredparameter"
        ),
        words=words(
            r"field required|missing (?:required|field)|input should be|is a required property|not of type",
            r"is required\b|json\.exception|syntax error",
            r"invalid (?:character|request|messages?|parameter|type|value|json|input)\b",
            r"validation error|must be (?:at least|one of|an? )",
            r"could not parse|failed to (?:parse|deserialize) the|malformed (?:input|request|json)|messages?[.\[]\d+",
        ),
        not_statuses=SPOKEN_FOR,
    ),
)
